// SPDX-License-Identifier: MIT
/* The names of calls, constants and errors, and the nearest to a misspelt one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/calls.h"
#include "image.h"
#include "names.h"

int call_number(struct span name)
{
	const char *known;
	int nr;

	for (nr = 0; nr < SUBCALL_NR_LIMIT; nr++) {
		known = ferry__calls[nr].name;
		if (known && strlen(known) == name.length &&
		    !memcmp(known, name.start, name.length))
			return nr;
	}
	return -1;
}

const char *call_name(short nr, char name[CALL_NAME_SIZE])
{
	if (nr == BATCH_WDCPY)
		snprintf(name, CALL_NAME_SIZE, "copy");
	else if (nr == NR_GOTO)
		snprintf(name, CALL_NAME_SIZE, "goto");
	else if (known_call(nr))
		snprintf(name, CALL_NAME_SIZE, "%s", known_call(nr)->name);
	else
		snprintf(name, CALL_NAME_SIZE, "%d", nr);
	return name;
}

static int compare(const void *key, const void *element)
{
	const struct span *name = key;
	const struct constant *constant = element;
	int order = strncmp(name->start, constant->name, name->length);

	return order ? order : -(constant->name[name->length] != '\0');
}

bool constant_value(struct span name, long *value)
{
	const struct constant *found =
		bsearch(&name, constants, constant_count, sizeof(*constants), compare);

	if (found)
		*value = found->value;
	return found;
}

const char *errno_name(long error)
{
	size_t i;

	for (i = 0; i < error_count; i++)
		if (-errors[i].value == error)
			return errors[i].name;
	return NULL;
}

/* ---- misspelt names ---- */

#define LETTERS_PER_MISTAKE 3 /* a hint may differ in one letter of this many */
#define MISTAKES_MAX 3

void spelling_start(struct spelling *spelling, struct span wrong)
{
	size_t most = wrong.length / LETTERS_PER_MISTAKE;

	if (most > MISTAKES_MAX)
		most = MISTAKES_MAX;
	if (!most)
		most = 1;
	*spelling = (struct spelling){ .wrong = wrong, .distance = most + 1 };
	/* Any other letter is one mistake away from a single one. */
	if (wrong.length < 2 || wrong.length >= SPELLING_MAX)
		spelling->distance = 0;
}

static size_t least(size_t a, size_t b, size_t c)
{
	if (b < a)
		a = b;
	return c < a ? c : a;
}

/*
 * How many letters must be put in, taken out, replaced or swapped with the next
 * to make A of B; both shorter than SPELLING_MAX.
 */
static size_t edit_distance(struct span a, struct span b)
{
	size_t rows[3][SPELLING_MAX + 1];
	size_t *above = rows[0], *current = rows[1], *spare = rows[2], *two_above;
	size_t i, j;

	for (j = 0; j <= b.length; j++)
		current[j] = j;
	for (i = 1; i <= a.length; i++) {
		two_above = above;
		above = current;
		current = spare;
		spare = two_above;
		current[0] = i;
		for (j = 1; j <= b.length; j++) {
			size_t replaced = above[j - 1] + (a.start[i - 1] != b.start[j - 1]);

			current[j] = least(replaced, above[j] + 1, current[j - 1] + 1);
			if (i > 1 && j > 1 && a.start[i - 1] == b.start[j - 2] &&
			    a.start[i - 2] == b.start[j - 1] && two_above[j - 2] < current[j])
				current[j] = two_above[j - 2] + 1;
		}
	}
	return current[b.length];
}

void spelling_offer(struct spelling *spelling, const char *name)
{
	struct span offered = { name, strlen(name) };
	size_t lengths_apart = offered.length > spelling->wrong.length ?
				       offered.length - spelling->wrong.length :
				       spelling->wrong.length - offered.length;
	size_t distance;

	/* The distance is never below that of the lengths, which avoids most of the work. */
	if (offered.length >= SPELLING_MAX || lengths_apart >= spelling->distance)
		return;
	distance = edit_distance(spelling->wrong, offered);
	if (distance >= spelling->distance)
		return;
	spelling->distance = distance;
	snprintf(spelling->hint, sizeof(spelling->hint), "; did you mean %s?", name);
}

void spelling_offer_constants(struct spelling *spelling)
{
	size_t i;

	for (i = 0; i < constant_count; i++)
		spelling_offer(spelling, constants[i].name);
}

void spelling_offer_calls(struct spelling *spelling)
{
	int nr;

	for (nr = 0; nr < SUBCALL_NR_LIMIT; nr++)
		if (known_call(nr))
			spelling_offer(spelling, known_call(nr)->name);
}

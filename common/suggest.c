// SPDX-License-Identifier: MIT
#include "suggest.h"

#include <string.h>

#include "memory.h"

#define LONGEST 31   /* letters of a word that is compared */
#define MOST_WRONG 2 /* letters of it */

static size_t least(size_t a, size_t b, size_t c)
{
	const size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Levenshtein's distance: how many letters to insert, delete or replace. */
static size_t distance(const char *one, size_t length, const char *other, size_t others)
{
	size_t row[LONGEST + 1], i, k;

	for (k = 0; k <= others; k++)
		row[k] = k;
	for (i = 1; i <= length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (k = 1; k <= others; k++) {
			const size_t above = row[k];

			row[k] = least(above + 1, row[k - 1] + 1,
				       diagonal + (one[i - 1] != other[k - 1]));
			diagonal = above;
		}
	}
	return row[others];
}

const char *did_you_mean(const char *word, const char *names)
{
	const size_t length = strlen(word);
	size_t nearest = MOST_WRONG + 1, room, off;
	const char *found = NULL;
	int letters = 0;

	for (; length <= LONGEST && *names; names += room + (names[room] == ' ')) {
		room = strcspn(names, " ");
		if (room > LONGEST)
			continue;
		off = distance(word, length, names, room);
		/* A word that shares no letter is not a misspelling. */
		if (off >= nearest || off >= room)
			continue;
		nearest = off;
		found = names;
		letters = (int)room;
	}
	return found ? keep_text(" (did you mean '%.*s'?)", letters, found) : "";
}

// SPDX-License-Identifier: MIT
/* Lines of the corpus; see line.h. */
#include "line.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "subject.h"

static bool take_number(const char **text, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return !errno;
}

static const char *parse_changes(struct line *line, const char *text)
{
	for (; *text; line->count++) {
		struct change *change = &line->changes[line->count];

		if (*text++ != ',')
			return "a comma between numbers is wanted";
		if (line->count == MOST_CHANGES)
			return "there are more than 8 changes";
		if (!take_number(&text, &change->at) || (*text != ':' && *text != '='))
			return "a change is POSITION:SEED or POSITION=WORD";
		change->is_word = *text++ == '=';
		if (!take_number(&text, &change->value))
			return "a change is POSITION:SEED or POSITION=WORD";
		if (line->count && change->at <= change[-1].at)
			return "the positions have to grow";
	}
	return NULL;
}

const char *line_parse(struct line *line, const char *text)
{
	size_t length = strcspn(text, " ");

	memset(line, 0, sizeof(*line));
	while (subjects[line->subject] &&
	       (strlen(subjects[line->subject]->name) != length ||
		memcmp(subjects[line->subject]->name, text, length) != 0))
		line->subject++;
	if (!subjects[line->subject])
		return "the first word is none of the subjects that --help lists";
	text += length;
	text += *text == ' ';
	if (!take_number(&text, &line->seed))
		return "after the subject and a space, a seed is wanted";
	return parse_changes(line, text);
}

void line_print(const struct line *line, FILE *out)
{
	unsigned int i;

	fprintf(out, "%s %" PRIu64, subjects[line->subject]->name, line->seed);
	for (i = 0; i < line->count; i++)
		fprintf(out, ",%" PRIu64 "%c%" PRIu64, line->changes[i].at,
			line->changes[i].is_word ? '=' : ':', line->changes[i].value);
}

struct random line_random(const struct line *line)
{
	struct random random = random_for(line->seed, 0);

	random.next = line->changes;
	random.end = line->changes + line->count;
	return random;
}

void line_mutate(struct line *line, uint64_t words, struct random *random)
{
	/* Small words, because most are taken modulo a small number. */
	bool is_word = random_percent(random, 50);
	struct change new = { .at = random_below(random, words ? words : 1), .is_word = is_word };
	unsigned int i = 0;

	new.value = is_word ? random_below(random, 1000) : random_word(random) & UINT32_MAX;
	while (i < line->count && line->changes[i].at < new.at)
		i++;
	/* A new seed makes all other words after it, so later changes are for another program. */
	if (!is_word || i == MOST_CHANGES)
		line->count = i;
	if (i == MOST_CHANGES)
		i = line->count -= 1;
	if (i < line->count && line->changes[i].at == new.at) {
		line->changes[i] = new;
		return;
	}
	if (line->count == MOST_CHANGES)
		line->count--;
	memmove(&line->changes[i + 1], &line->changes[i],
		(line->count - i) * sizeof(line->changes[0]));
	line->changes[i] = new;
	line->count++;
}

// SPDX-License-Identifier: MIT
#include "du_exclude.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "du_messages.h"

void du_add_pattern(struct du_patterns *patterns, const char *pattern)
{
	patterns->texts = (const char **)keep_more((void *)patterns->texts, patterns->count,
						   sizeof(*patterns->texts));
	patterns->texts[patterns->count++] = pattern;
}

/* As GNU du: blanks at the end of a line, and empty lines, say nothing. */
static void add_line(struct du_patterns *patterns, char *line)
{
	size_t length = strlen(line);

	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	if (length)
		du_add_pattern(patterns, keep_text("%s", line));
}

bool du_add_patterns_from(struct du_patterns *patterns, const char *path)
{
	const bool is_standard = !strcmp(path, "-");
	FILE *file = is_standard ? stdin : fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	bool complete;

	if (file) {
		while (getline(&line, &room, file) >= 0)
			add_line(patterns, line);
		free(line);
	}
	complete = file && !ferror(file);
	if (!complete)
		du_complain("%s: %s", du_quoted_if_needed(path), strerror(errno));
	if (file && !is_standard)
		fclose(file);
	return complete;
}

/* ---- matching ---- */

static bool has_wildcards(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (strchr("?*[", *pattern))
			return true;
		pattern += *pattern == '\\' && pattern[1];
	}
	return false;
}

/* Whether PATTERN without wildcards stands for TEXT.  A backslash at its end stands for itself. */
static bool stands_for(const char *pattern, const char *text)
{
	for (; *pattern; pattern++, text++) {
		pattern += *pattern == '\\' && pattern[1];
		if (*pattern != *text)
			return false;
	}
	return !*text;
}

static bool fits(const char *pattern, bool wild, const char *text)
{
	return wild ? !fnmatch(pattern, text, 0) : stands_for(pattern, text);
}

/* As GNU du: a pattern matches the path, or what follows one of its slashes. */
static bool matches(const char *pattern, const char *path)
{
	bool wild = has_wildcards(pattern);
	const char *at;

	if (fits(pattern, wild, path))
		return true;
	for (at = path; *at; at++)
		if (*at == '/' && !(wild && at[1] == '/') && fits(pattern, wild, at + 1))
			return true;
	return false;
}

bool du_is_excluded(const struct du_patterns *patterns, const char *path)
{
	size_t i;

	for (i = 0; i < patterns->count; i++)
		if (matches(patterns->texts[i], path))
			return true;
	return false;
}

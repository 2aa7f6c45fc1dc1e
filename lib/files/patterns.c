// SPDX-License-Identifier: MIT
/*
 * A pattern with a slash at its start or in it is compared with the whole path, part by part; any
 * other one with the last part.  Both loops below go back to the last star only, so their time is
 * at most the product of the lengths.
 */
#include "patterns.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
	bool takes_back, directories_only, whole_path;
	size_t count;  /* parts */
	char *parts[]; /* each with a NUL after it; the text is behind them */
};

/* ---- one part ---- */

static const struct {
	const char *name;
	int (*contains)(int character);
} classes[] = {
	{ "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank }, { "cntrl", iscntrl },
	{ "digit", isdigit }, { "graph", isgraph }, { "lower", islower }, { "print", isprint },
	{ "punct", ispunct }, { "space", isspace }, { "upper", isupper }, { "xdigit", isxdigit },
};

/* A class such as [:alpha:] at AT, after its colon.  Returns the end, or NULL if it is none. */
static const char *match_class(const char *at, unsigned char byte, bool *found)
{
	size_t length = strcspn(at, ":"), i;

	if (at[length] != ':' || at[length + 1] != ']')
		return NULL;
	for (i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (strlen(classes[i].name) == length && !memcmp(classes[i].name, at, length)) {
			*found |= classes[i].contains(byte) != 0;
			return at + length + 2;
		}
	return NULL;
}

/* The byte that AT stands for in a set, and the end of it. */
static unsigned char set_byte(const char **at)
{
	if (**at == '\\' && (*at)[1])
		++*at;
	return (unsigned char)*(*at)++;
}

/* A set such as [a-z], after its bracket.  Returns its end, or NULL if it has none. */
static const char *match_set(const char *at, unsigned char byte, bool *matches)
{
	bool inverted = *at == '!' || *at == '^', found = false, first = true;
	unsigned char from, to;

	for (at += inverted; *at && (first || *at != ']'); first = false) {
		if (at[0] == '[' && at[1] == ':') {
			at = match_class(at + 2, byte, &found);
			if (!at)
				return NULL;
			continue;
		}
		from = set_byte(&at);
		to = from;
		if (at[0] == '-' && at[1] && at[1] != ']') {
			at++;
			to = set_byte(&at);
		}
		found |= from <= byte && byte <= to;
	}
	*matches = found != inverted;
	return *at ? at + 1 : NULL;
}

/* Whether PATTERN, which is no star, begins with what stands for BYTE.  Returns what follows. */
static const char *match_one(const char *pattern, unsigned char byte)
{
	bool matches = false;
	const char *end;

	switch (*pattern) {
	case '?':
		return pattern + 1;
	case '[':
		end = match_set(pattern + 1, byte, &matches);
		return matches ? end : NULL;
	case '\\':
		return (unsigned char)pattern[1] == byte ? pattern + 2 : NULL;
	default:
		return (unsigned char)*pattern == byte ? pattern + 1 : NULL;
	}
}

/* TEXT ends with a slash or a NUL. */
static bool match_part(const char *pattern, const char *text, size_t length)
{
	const char *end = text + length, *star = NULL, *again = NULL, *next;

	while (text < end || *pattern) {
		if (*pattern == '*') {
			star = ++pattern;
			again = text;
			continue;
		}
		next = text < end && *pattern ? match_one(pattern, (unsigned char)*text) : NULL;
		if (next) {
			pattern = next;
			text++;
		} else if (star && again < end) {
			pattern = star;
			text = ++again;
		} else {
			return false;
		}
	}
	return true;
}

/* ---- a path ---- */

static bool is_any_depth(const char *part)
{
	return part[0] == '*' && part[1] == '*' && !part[2];
}

static const char *after_part(const char *path)
{
	path += strcspn(path, "/");
	return *path ? path + 1 : path;
}

static bool match_path(const struct pattern *pattern, const char *path)
{
	const char *again = NULL;
	size_t part = 0, star = SIZE_MAX;

	while (*path || part < pattern->count) {
		if (part < pattern->count && is_any_depth(pattern->parts[part])) {
			/* At the end it stands for at least one part. */
			if (part + 1 == pattern->count)
				return *path;
			star = ++part;
			again = path;
		} else if (*path && part < pattern->count &&
			   match_part(pattern->parts[part], path, strcspn(path, "/"))) {
			part++;
			path = after_part(path);
		} else if (star != SIZE_MAX && *again) {
			part = star;
			again = after_part(again);
			path = again;
		} else {
			return false;
		}
	}
	return true;
}

static bool matches(const struct pattern *pattern, const char *path, bool is_directory)
{
	const char *name = strrchr(path, '/');

	if (pattern->directories_only && !is_directory)
		return false;
	if (pattern->whole_path)
		return match_path(pattern, path);
	name = name ? name + 1 : path;
	return match_part(pattern->parts[0], name, strlen(name));
}

enum matched ferry__patterns_match(const struct patterns *patterns, const char *path,
				   bool is_directory)
{
	size_t i = patterns->count;

	while (i--)
		if (matches(patterns->list[i], path, is_directory))
			return patterns->list[i]->takes_back ? TAKEN_BACK : MATCHED;
	return NOT_MATCHED;
}

/* ---- parsing ---- */

/* Without the blanks at the end, unless a backslash is before them. */
static size_t trimmed(const char *line, size_t length)
{
	size_t end = 0, i;

	for (i = 0; i < length; i++) {
		if (line[i] == '\\' && i + 1 < length)
			i++;
		else if (line[i] == ' ')
			continue;
		end = i + 1;
	}
	return end;
}

static size_t count_parts(const char *text, size_t length)
{
	size_t count = 1, i;

	for (i = 0; i < length; i++)
		count += text[i] == '/';
	return count;
}

/* Splits the copy of TEXT behind the parts at its slashes; of several "**" one is kept. */
static void split(struct pattern *pattern, char *text)
{
	char *next;

	for (; text; text = next) {
		next = strchr(text, '/');
		if (next)
			*next++ = '\0';
		if (pattern->count && is_any_depth(text) &&
		    is_any_depth(pattern->parts[pattern->count - 1]))
			continue;
		pattern->parts[pattern->count++] = text;
	}
}

static bool add(struct patterns *patterns, struct pattern *pattern)
{
	struct pattern **list;

	list = (struct pattern **)realloc((void *)patterns->list,
					  (patterns->count + 1) * sizeof(*patterns->list));
	if (!list)
		return false;
	list[patterns->count++] = pattern;
	patterns->list = list;
	return true;
}

bool ferry__patterns_add(struct patterns *patterns, const char *line, size_t length)
{
	struct pattern about = { 0 }, *pattern;
	size_t parts;
	char *text;

	length = trimmed(line, length);
	if (!length || *line == '#')
		return true;
	about.takes_back = *line == '!';
	line += about.takes_back;
	length -= about.takes_back;
	about.directories_only = length && line[length - 1] == '/';
	length -= about.directories_only;
	about.whole_path = length && memchr(line, '/', length);
	if (length && *line == '/') {
		line++;
		length--;
	}
	if (!length)
		return true;
	parts = count_parts(line, length);
	pattern = malloc(sizeof(*pattern) + parts * sizeof(char *) + length + 1);
	if (!pattern)
		return false;
	*pattern = about;
	text = (char *)(pattern->parts + parts);
	memcpy(text, line, length);
	text[length] = '\0';
	split(pattern, text);
	if (add(patterns, pattern))
		return true;
	free(pattern);
	return false;
}

bool ferry__patterns_add_lines(struct patterns *patterns, const char *text, size_t length)
{
	const char *end = text + length, *next;
	size_t size;

	for (; text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		if (!next)
			next = end;
		size = (size_t)(next - text);
		if (size && text[size - 1] == '\r')
			size--;
		/* A pattern with a NUL matches no name. */
		if (!memchr(text, '\0', size) && !ferry__patterns_add(patterns, text, size))
			return false;
	}
	return true;
}

bool ferry__patterns_add_list(struct patterns *patterns, const char *const *list)
{
	for (; list && *list; list++)
		if (!ferry__patterns_add(patterns, *list, strlen(*list)))
			return false;
	return true;
}

void ferry__patterns_free(struct patterns *patterns)
{
	while (patterns->count)
		free(patterns->list[--patterns->count]);
	free((void *)patterns->list);
	patterns->list = NULL;
}

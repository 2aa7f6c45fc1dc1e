/* SPDX-License-Identifier: MIT */
/* Patterns for paths, with the rules of gitignore(5). */
#ifndef FILES_PATTERNS_H
#define FILES_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

struct pattern;

struct patterns {
	struct pattern **list;
	size_t count;
};

enum matched { NOT_MATCHED, MATCHED, TAKEN_BACK };

/** Adds the pattern in LINE, if there is one: false when out of memory. */
bool ferry__patterns_add(struct patterns *patterns, const char *line, size_t length);

/** The same for each line of TEXT. */
bool ferry__patterns_add_lines(struct patterns *patterns, const char *text, size_t length);

/** Adds each text of LIST, which ends with NULL, or is NULL. */
bool ferry__patterns_add_list(struct patterns *patterns, const char *const *list);

void ferry__patterns_free(struct patterns *patterns);

/** The last pattern that matches PATH, relative to where the patterns are, decides. */
enum matched ferry__patterns_match(const struct patterns *patterns, const char *path,
				   bool is_directory);

#endif /* FILES_PATTERNS_H */

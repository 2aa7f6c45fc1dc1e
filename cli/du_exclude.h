/* SPDX-License-Identifier: MIT */
/* The patterns of --exclude and --exclude-from. */
#ifndef DU_EXCLUDE_H
#define DU_EXCLUDE_H

#include <stdbool.h>
#include <stddef.h>

struct du_patterns {
	const char **texts;
	size_t count;
};

/** Adds PATTERN, which has to stay. */
void du_add_pattern(struct du_patterns *patterns, const char *pattern);

/** Adds each line of the file PATH; "-" is standard input.  Returns false after complaining. */
bool du_add_patterns_from(struct du_patterns *patterns, const char *path);

/** Whether one of them matches PATH, or what follows one of its slashes. */
bool du_is_excluded(const struct du_patterns *patterns, const char *path);

#endif /* DU_EXCLUDE_H */

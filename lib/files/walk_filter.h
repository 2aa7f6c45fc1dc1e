/* SPDX-License-Identifier: MIT */
/* Which of the entries a walk passes on, and which directories it goes into. */
#ifndef FILES_WALK_FILTER_H
#define FILES_WALK_FILTER_H

#include "patterns.h"
#include "walk_names.h"

struct walk_filter {
	const struct ferry_walk_filter *wanted; /* NULL: everything */
	struct patterns include, exclude;
	bool follows; /* symbolic links */
};

/** Prepares FILTER for WANTED, which may be NULL: false when out of memory. */
bool ferry__filter_init(struct walk_filter *filter, const struct ferry_walk_filter *wanted,
			bool follows);

void ferry__filter_free(struct walk_filter *filter);

/** Whether the walk goes into directories that are entries of NODE. */
bool ferry__filter_goes_below(const struct walk_filter *filter, const struct node *node);

/**
 * Reads the patterns that the directory NODE, open as DIR, has: 0, or -errno when out of memory or
 * descriptors.
 */
int ferry__filter_read_patterns(const struct walk_filter *filter, struct member *member,
				struct node *node, int dir);

/** Removes entries from NAMES that are not to be passed on; PATH is the path of their directory. */
bool ferry__filter_names(const struct walk_filter *filter, struct member *member,
			 struct names *names, const char *path);

#endif /* FILES_WALK_FILTER_H */

/* SPDX-License-Identifier: MIT */
/* What ferry du counts: the walk over the arguments, and which of the entries belong to it. */
#ifndef DU_COUNT_H
#define DU_COUNT_H

#include "du_tree.h"

struct du_options {
	bool all;	      /* list files, too */
	bool apparent;	      /* sizes, not the space on the disk */
	bool count_links;     /* count each hard link */
	bool one_file_system; /* stay on the device of the argument */
	unsigned int max_depth;
	const char **exclude; /* patterns */
	size_t exclude_count;
};

/**
 * Counts what is below the COUNT arguments PATHS into TREE, and complains about what cannot be
 * read.  Returns false if there was such a thing.
 */
bool du_count(struct du_tree *tree, const struct du_options *options, char *const paths[],
	      size_t count);

#endif /* DU_COUNT_H */

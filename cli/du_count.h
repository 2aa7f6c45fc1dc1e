/* SPDX-License-Identifier: MIT */
/* What ferry du counts: the walk over the arguments, and which of the entries belong to it. */
#ifndef DU_COUNT_H
#define DU_COUNT_H

#include "du_arguments.h"
#include "du_exclude.h"
#include "du_tree.h"

enum du_counted { DU_SPACE, DU_SIZES, DU_INODES };

enum du_time_kind { DU_NO_TIME, DU_CHANGE_OF_CONTENTS, DU_ACCESS, DU_CHANGE_OF_STATUS };

enum du_follow { DU_FOLLOW_NOTHING, DU_FOLLOW_ARGUMENTS, DU_FOLLOW_ALL };

struct du_options {
	enum du_counted counted;
	enum du_time_kind time;
	enum du_follow follow; /* symbolic links */
	bool all;	       /* list files, too */
	bool count_links;      /* count each hard link */
	bool one_file_system;  /* stay on the device of the argument */
	bool separate;	       /* directories without what is in the directories in them */
	unsigned int max_depth;
	struct du_patterns exclude;
};

/**
 * Counts what is below the ARGUMENTS into TREE, and complains about what cannot be read.  Returns
 * false if there was such a thing.
 */
bool du_count(struct du_tree *tree, const struct du_options *options,
	      const struct du_arguments *arguments);

#endif /* DU_COUNT_H */

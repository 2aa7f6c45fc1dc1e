/* SPDX-License-Identifier: MIT */
/* Walks a file tree and stats the entries of each directory in batches. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Callbacks of the walk.  DIR and NAME together are a path: DIR ends in '/', or it is
 * empty and NAME is the path that the caller gave.  Both, and STAT, are valid only
 * during the callback.
 */
struct tree_visitor {
	/* An entry: size, blocks, type, mode, inode and device of STAT are set. */
	void (*entry)(void *context, const char *dir, const char *name, const struct statx *stat);

	/* "cannot ACTION 'DIR/NAME': ERROR", where ACTION is a constant and ERROR an errno. */
	void (*failed)(void *context, const char *action, const char *dir, const char *name,
		       int error);

	void *context;
	bool one_file_system; /* skip what is on another file system than the root of the walk */
};

struct tree;

/** A walker for VISITOR, which must outlive it, or NULL if memory runs out. */
struct tree *tree_new(const struct tree_visitor *visitor);

void tree_free(struct tree *tree);

/**
 * Visits PATH and, depth first, everything below it; symbolic links are entries and are
 * not followed.  A directory comes before its entries.
 *
 * Entries that vanish meanwhile are skipped silently.  A directory that cannot be read is
 * reported as an entry, and then as a failure.  The walk uses a few tens of descriptors at
 * any depth, and manages with two if no more are available.
 *
 * Returns 0 or -ENOMEM; only the visitor learns of failures to stat or read.
 */
int tree_walk(struct tree *tree, const char *path);

#endif /* TREE_H */

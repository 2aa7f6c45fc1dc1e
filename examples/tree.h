/* SPDX-License-Identifier: MIT */
/* A walk of a file tree that stats the entries of a directory in batches. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * What the walk tells.  DIR and NAME together are a path: DIR ends in '/', or it is
 * empty and NAME is the path that the caller gave.  Both, and STAT, are valid during
 * the call only.
 */
struct tree_visitor {
	/* An entry: size, blocks, type, mode, inode and device of STAT are set. */
	void (*entry)(void *context, const char *dir, const char *name, const struct statx *stat);

	/* "cannot ACTION 'DIR/NAME': ERROR", where ACTION is a constant and ERROR an errno. */
	void (*failed)(void *context, const char *action, const char *dir, const char *name,
		       int error);

	void *context;
	bool one_file_system; /* leave out what lies on another than the root of the walk */
};

struct tree;

/** A walker for VISITOR, which must outlive it, or NULL when out of memory. */
struct tree *tree_new(const struct tree_visitor *visitor);

void tree_free(struct tree *tree);

/**
 * Visits PATH and, depth first, everything below it; symbolic links are entries and are
 * not followed.  A directory comes before its entries.
 *
 * Entries that vanish meanwhile are left out without a word.  A directory that cannot be
 * read is an entry, and then a failure.  Any depth is walked with at most some tens of
 * descriptors, and with two if there are no more.
 *
 * Returns 0, or -ENOMEM; failures to stat or read are told to the visitor only.
 */
int tree_walk(struct tree *tree, const char *path);

#endif /* TREE_H */

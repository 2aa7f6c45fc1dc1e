/* SPDX-License-Identifier: MIT */
/* The directories of a walk: a tree of names in which each points to its parent. */
#ifndef FILES_WALK_NODE_H
#define FILES_WALK_NODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "calls.h"
#include "patterns.h"
#include "statx.h"

/* An open directory.  It is closed when nobody uses it any more. */
struct opened {
	int fd;
	atomic_uint users;
};

/* What a sorted walk knows about a directory until it has been passed on. */
enum node_state { WAITING, READING, READY };

struct names;

struct node {
	struct node *parent;
	struct node *next, *previous; /* in the queue */
	atomic_uint users;	      /* children count */
	atomic_uint pending;	      /* itself and the children that have not ended */
	void *context;		      /* of the caller */
	bool is_known;		      /* what follows is */
	unsigned int device_major, device_minor;
	unsigned long inode;
	unsigned int depth;	  /* of the entries */
	size_t path_length;	  /* with the names of all above */
	struct patterns patterns; /* of the directory itself, once it is open */

	/* Of a sorted walk: */
	enum node_state state;
	struct names *names; /* all entries, in any order */
	unsigned int unfinished;
	int error;

	char name[];
};

/** A node for NAME, or NULL when out of memory.  PARENT is NULL for the root. */
struct node *ferry__node_new(struct node *parent, const char *name);

/** Drops one user: the last one frees NODE, and those above that only it used. */
void ferry__node_drop(struct node *node);

/** Stores the device and inode of the directory in NODE. */
void ferry__node_identify(struct node *node, const struct statx *stat);

/**
 * Whether a directory above NODE is the same.  A loop of more than 512 levels is found within the
 * next 512.
 */
bool ferry__node_is_loop(const struct node *node);

/**
 * Writes the path, path_length bytes and a NUL, to INTO.  If BEFORE is not NULL, INTO has its path:
 * what both paths begin with stays.
 */
void ferry__node_path(const struct node *node, char *into, const struct node *before);

/** A directory that has one user, or NULL when out of memory. */
struct opened *ferry__opened_new(int fd);
struct opened *ferry__opened_use(struct opened *opened);

/** Drops one user, if OPENED is not NULL. */
void ferry__opened_drop(struct member *member, struct opened *opened);

#endif /* FILES_WALK_NODE_H */

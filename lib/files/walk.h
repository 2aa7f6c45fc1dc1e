/* SPDX-License-Identifier: MIT */
/* A walk, and the state of each member of its crew. */
#ifndef FILES_WALK_H
#define FILES_WALK_H

#include "crew.h"
#include "walk_filter.h"
#include "walk_names.h"
#include "walk_queue.h"

struct walk {
	struct crew crew;
	struct queue queue;
	struct names_wanted wanted;
	struct walk_filter filter;
	int (*block)(void *context, struct ferry_block *block);
	void *context;
	int dir; /* that the root's path is relative to */
	struct node *root;
	struct opened *root_opened;
	int root_error; /* 0, or why the root could not be looked at or read */

	pthread_mutex_t passing; /* held while a block is passed on */
	bool sorted_passing;	 /* a member passes on the first directories; with queue.lock */
	int result;		 /* not 0: the walk ends with it; with passing */
	atomic_size_t seen;	 /* entries */
};

struct walker {
	struct walk *walk;
	struct member *member;
	struct node *held_node; /* the last directory with directories in it, and its descriptor */
	struct opened *held;
	char *path; /* of the directory that is being worked on */
	size_t path_room;
	struct node *path_node; /* that directory, which the walker uses */
};

/* ---- walker.c ---- */

/** Ends the walk with RESULT, unless it has one. */
void ferry__walk_end(struct walk *walk, int result);

/** Writes NODE's path to walker->path.  Returns false, and ends the walk, when out of memory. */
bool ferry__walk_path(struct walker *walker, struct node *node);

/** Keeps OPENED, which is NODE, at hand for the directories in it. */
void ferry__walk_hold(struct walker *walker, struct node *node, struct opened *opened);

/** Releases what ferry__walk_hold() keeps. */
void ferry__walk_let_go(struct walker *walker);

/** Frees what NODE, which has left the queue, has kept, and its place there. */
void ferry__walk_free_directory(struct member *member, struct node *node);

/* ---- walk_read.c ---- */

/** Reads the directory NODE and passes on or keeps what is in it. */
void ferry__walk_read(struct walker *walker, struct node *node);

/* ---- walk_pass.c ---- */

/** Passes on the root itself.  Puts it in the queue if it is a directory to walk. */
void ferry__walk_pass_root(struct walker *walker, struct ferry_walk_entry *entry,
			   const struct statx *stat);

/** Passes on or keeps NAMES, whose attributes are known, and frees them in the end. */
void ferry__walk_pass_names(struct walker *walker, struct names *names);

/** Passes on or keeps the ERROR of NODE. */
void ferry__walk_pass_error(struct walker *walker, struct node *node, int error);

/** Notes that a piece of NODE is finished, and passes on what is next in turn. */
void ferry__walk_finish(struct walker *walker, struct node *node);

#endif /* FILES_WALK_H */

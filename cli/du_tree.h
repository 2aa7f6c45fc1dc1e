/* SPDX-License-Identifier: MIT */
/* The sums of ferry du: a tree of what will be listed, and each hard link counted once. */
#ifndef DU_TREE_H
#define DU_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A sum of sizes, each of which may be as large as a uint64_t. */
typedef unsigned __int128 du_bytes;

/* A point in time; the oldest one is the time of nothing. */
struct du_time {
	int64_t seconds; /* since the Epoch */
	uint32_t nanoseconds;
};

#define DU_NEVER ((struct du_time){ .seconds = INT64_MIN })

/* What is summed up. */
struct du_sum {
	du_bytes amount;     /* bytes or inodes */
	struct du_time time; /* the latest one */
};

#define DU_NOTHING ((struct du_sum){ .time = DU_NEVER })

/* A directory or file that has a line of its own. */
struct du_item {
	struct du_item *parent;
	struct du_item *first, *next; /* what is in it, and its neighbour */
	size_t root;		      /* the number of its argument */
	unsigned int depth;	      /* 0: the argument */
	bool is_file;
	bool hidden;	   /* another link of the same file is listed */
	struct du_sum sum; /* its own, and after du_sum_up() what is below */
	char name[];	   /* of the argument, as it was given */
};

/* A file or directory that may be found again. */
struct du_link {
	bool used;
	uint64_t device, inode;
	struct du_sum sum;	/* that was counted: the file may have another size by now */
	struct du_item *holder; /* where it is counted */
};

struct du_tree {
	struct du_item *roots, **end; /* the arguments, in their order */
	size_t root_count;
	struct du_link *links; /* an open hash table */
	size_t link_count, link_room;
	struct du_sum total; /* after du_sum_up() */
};

void du_tree_init(struct du_tree *tree);
void du_tree_free(struct du_tree *tree);

/** Adds an item to PARENT, or an argument if that is NULL. */
struct du_item *du_add(struct du_tree *tree, struct du_item *parent, const char *name,
		       bool is_file);

/**
 * Counts SUM for a file that may be found again in HOLDER: its own item, or the directory it
 * is in.  Of several links the one that comes first by name is counted, so the sums do
 * not depend on the order in which they are found.  Returns false if this one was
 * found before.
 */
bool du_count_link(struct du_tree *tree, uint64_t device, uint64_t inode, const struct du_sum *sum,
		   struct du_item *holder);

/** Whether a file has been counted as a link. */
bool du_found(const struct du_tree *tree, uint64_t device, uint64_t inode);

/** Adds MORE to SUM. */
void du_add_sum(struct du_sum *sum, const struct du_sum *more);

/**
 * Adds the sums of all items to those above them, and sorts them by name.  Where directories are
 * SEPARATE, only files are added to theirs.  To be called once.
 */
void du_sum_up(struct du_tree *tree, bool separate);

/** Calls EACH for all items that are not hidden, what is in an item before the item itself. */
void du_visit(const struct du_tree *tree, void (*each)(void *context, const struct du_item *item),
	      void *context);

/** The path of ITEM, to be freed. */
char *du_path(const struct du_item *item);

#endif /* DU_TREE_H */

/* SPDX-License-Identifier: MIT */
/* The sums of ferry du: a tree of what will be listed, and each hard link counted once. */
#ifndef DU_TREE_H
#define DU_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A directory or file that has a line of its own. */
struct du_item {
	struct du_item *parent;
	struct du_item *first, *next; /* what is in it, and its neighbour */
	size_t root;		      /* the number of its argument */
	unsigned int depth;	      /* 0: the argument */
	bool is_file;
	bool hidden;	/* another link of the same file is listed */
	uint64_t bytes; /* its own, and after du_sum() those below */
	char name[];	/* of the argument, as it was given */
};

/* A file or directory that may be found again. */
struct du_link {
	bool used;
	uint64_t device, inode;
	uint64_t bytes;		/* that were counted: the file may have another size by now */
	struct du_item *holder; /* where they are counted */
};

struct du_tree {
	struct du_item *roots, **end; /* the arguments, in their order */
	size_t root_count;
	struct du_link *links; /* an open hash table */
	size_t link_count, link_room;
};

void du_tree_init(struct du_tree *tree);
void du_tree_free(struct du_tree *tree);

/** Adds an item to PARENT, or an argument if that is NULL. */
struct du_item *du_add(struct du_tree *tree, struct du_item *parent, const char *name,
		       bool is_file);

/**
 * Counts the BYTES of a file that may be found again in HOLDER: its own item, or the directory it
 * is in.  Of several links the one that comes first by name is counted, so the sums do
 * not depend on the order in which they are found.  Returns false if this one was
 * found before.
 */
bool du_count_link(struct du_tree *tree, uint64_t device, uint64_t inode, uint64_t bytes,
		   struct du_item *holder);

/** Whether a file has been counted as a link. */
bool du_found(const struct du_tree *tree, uint64_t device, uint64_t inode);

/** Adds the sums of all items to those above them, and sorts them by name. */
void du_sum(struct du_tree *tree);

/** Calls EACH for all items that are not hidden, what is in an item before the item itself. */
void du_visit(const struct du_tree *tree, void (*each)(void *context, const struct du_item *item),
	      void *context);

/** The path of ITEM, to be freed. */
char *du_path(const struct du_item *item);

#endif /* DU_TREE_H */

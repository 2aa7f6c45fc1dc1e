/* SPDX-License-Identifier: MIT */
/* Some names of a directory, as getdents64(2) returned them, and their attributes. */
#ifndef FILES_WALK_NAMES_H
#define FILES_WALK_NAMES_H

#include "lib/engine/engine.h"
#include "statx.h"
#include "walk_node.h"

struct names {
	struct names *next;
	struct node *node;
	struct opened *opened;
	size_t count;
	struct ferry_walk_entry *entries;
	struct statx *stats; /* of all entries, or NULL: no attributes are needed */
};

/* What a walk needs to know about its entries. */
struct names_wanted {
	unsigned int flags;	  /* FERRY_WALK_* */
	unsigned int mask;	  /* 0: types alone */
	enum ferry_engine engine; /* for several names in one crossing, or FERRY_LOOP */
};

/**
 * A copy of the SIZE bytes of entries in DIRENTS, without "." and "..", or NULL when out of memory.
 * It uses NODE and OPENED.
 */
struct names *ferry__names_new(const struct names_wanted *wanted, const char *dirents, size_t size,
			       struct node *node, struct opened *opened);

void ferry__names_free(struct member *member, struct names *names);

/** Asks for the attributes that are wanted, and corrects the types. */
void ferry__names_look(struct member *member, const struct names_wanted *wanted,
		       struct names *names);

/** Asks for the attributes of one entry, NAME in DIR. */
void ferry__entry_look(struct member *member, const struct names_wanted *wanted, int dir,
		       bool follow, struct ferry_walk_entry *entry, struct statx *stat);

#endif /* FILES_WALK_NAMES_H */

/* SPDX-License-Identifier: MIT */
/* Some names of a directory and their attributes. */
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
	bool has_stats;	     /* they came with the names: those without stx_mask are to be asked */
};

/* What getdents64() wrote, or getdents_statx(). */
struct dirents {
	const char *data;
	size_t size; /* bytes */
	bool has_stats;
};

/* What a walk needs to know about its entries. */
struct names_wanted {
	unsigned int flags;	  /* FERRY_WALK_* */
	unsigned int mask;	  /* 0: types alone */
	enum ferry_engine engine; /* for several names in one crossing, or FERRY_LOOP */
	bool with_names;	  /* attributes come with names, by getdents_statx() */
};

/**
 * Reads entries of FD into BUFFER, SIZE bytes, and describes them in *INTO.  Returns the result of
 * getdents64(2).
 */
long ferry__names_read(struct member *member, const struct names_wanted *wanted, int fd,
		       char *buffer, size_t size, struct dirents *into);

/**
 * A copy of the entries in DIRENTS, without "." and "..", or NULL when out of memory.  It uses NODE
 * and OPENED.
 */
struct names *ferry__names_new(const struct names_wanted *wanted, const struct dirents *dirents,
			       struct node *node, struct opened *opened);

void ferry__names_free(struct member *member, struct names *names);

/** Asks for the attributes that are wanted, and corrects the types. */
void ferry__names_look(struct member *member, const struct names_wanted *wanted,
		       struct names *names);

/** Asks for the attributes of one entry, NAME in DIR. */
void ferry__entry_look(struct member *member, const struct names_wanted *wanted, int dir,
		       bool follow, struct ferry_walk_entry *entry, struct statx *stat);

#endif /* FILES_WALK_NAMES_H */

/* SPDX-License-Identifier: MIT */
/* Where the contents of a file go: the caller's buffer, or a part of the arena that can grow. */
#ifndef FILES_PLACE_H
#define FILES_PLACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <ferry_files.h>

/* The arena of a call, in which several threads take parts. */
struct shared_arena {
	char *memory;
	size_t size;
	atomic_size_t used;
};

struct place {
	struct shared_arena *arena; /* NULL: the caller's buffer */
	char *data;
	size_t room, length;
	size_t limit; /* bytes that the file may have at most */
};

/**
 * A place for FILE, which has SIZE bytes as far as is known: room for all of it, and if possible
 * for one byte more, so that one read also shows that it has not grown.  None for an empty file.
 * Returns -ENOBUFS when the arena is full.
 */
int ferry__place_init(struct place *place, const struct ferry_file *file, size_t size,
		      struct shared_arena *arena);

/** Doubles the room, up to the limit.  Returns false when there is no more. */
bool ferry__place_grow(struct place *place);

/** Gives back what the contents do not need, if nothing has been taken since. */
void ferry__place_trim(struct place *place);

#endif /* FILES_PLACE_H */

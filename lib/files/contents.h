/* SPDX-License-Identifier: MIT */
/* The contents of one file. */
#ifndef FILES_CONTENTS_H
#define FILES_CONTENTS_H

#include <fcntl.h>
#include <stdbool.h>

#include "calls.h"
#include "place.h"
#include "statx.h"

/* The fields that statx() is asked for before a file is opened. */
#define CONTENTS_MASK (STATX_TYPE | STATX_SIZE)

/* With these, opening a FIFO does not wait, and a terminal becomes no controlling terminal. */
#define CONTENTS_OPEN (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* FLAGS here and below are FERRY_READ_*. */
static inline int ferry__contents_open_flags(unsigned int flags)
{
	return CONTENTS_OPEN | (flags & FERRY_READ_NOFOLLOW ? O_NOFOLLOW : 0);
}

static inline int ferry__contents_look_flags(unsigned int flags)
{
	return flags & FERRY_READ_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
}

/** The bytes that are to be read of FILE with the attributes STAT, if it has no limit. */
static inline size_t ferry__contents_rest(const struct ferry_file *file, const struct statx *stat)
{
	return stat->stx_size > file->offset ? stat->stx_size - file->offset : 0;
}

/**
 * 0 if a file with the type of STAT may be opened and read, or the error that it gets.  To
 * open a FIFO or a device can have an effect of its own, so this is asked before.
 */
int ferry__contents_allowed(const struct statx *stat, unsigned int flags);

/**
 * Reads NAME, whose attributes are STAT, into FILE, and stores its result there.
 */
void ferry__contents_read(struct member *member, int dir, const char *name, unsigned int flags,
			  const struct statx *stat, struct ferry_file *file,
			  struct shared_arena *arena);

/** The same for a name whose attributes are not known. */
void ferry__contents_open_first(struct member *member, int dir, const char *name,
				unsigned int flags, struct ferry_file *file,
				struct shared_arena *arena);

/** Whether the kernel can open a file only if it is regular. */
bool ferry__contents_can_open_regular(void);

/** Reads NAME if it is regular and can be opened.  Returns false where a look has to say more. */
bool ferry__contents_open_regular(struct member *member, int dir, const char *name,
				  unsigned int flags, struct ferry_file *file,
				  struct shared_arena *arena);

/** Takes SIZE bytes at OFFSET of a file.  Returns whether to go on. */
typedef bool take_part(void *context, const char *data, size_t size, size_t offset);

/**
 * Reads NAME from its start to its end in parts of up to SIZE bytes, each into BUFFER: 0 or
 * -errno, also if TAKE has ended it.
 */
int ferry__contents_in_parts(struct member *member, int dir, const char *name, unsigned int flags,
			     char *buffer, size_t size, take_part *take, void *context);

/** Stores in FILE that nothing has been read, and ERROR. */
void ferry__contents_none(struct ferry_file *file, int error);

/** Stores the contents of PLACE, and ERROR, in FILE. */
void ferry__contents_store(struct ferry_file *file, struct place *place, int error);

#endif /* FILES_CONTENTS_H */

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

/**
 * 0 if a file with the type of STAT may be opened and read, or the error that it gets.  To
 * open a FIFO or a device can have an effect of its own, so this is asked before.
 */
int ferry__contents_allowed(const struct statx *stat, unsigned int flags);

/**
 * Reads NAME, whose attributes are STAT, into FILE, and stores its result there.
 */
void ferry__contents_read(struct member *member, int dir, const char *name,
			  const struct statx *stat, struct ferry_file *file,
			  struct shared_arena *arena);

/** The same for a name whose attributes are not known; FLAGS are those of ferry_read_files(). */
void ferry__contents_open_first(struct member *member, int dir, const char *name,
				unsigned int flags, struct ferry_file *file,
				struct shared_arena *arena);

/** Whether the kernel can open a file only if it is regular. */
bool ferry__contents_can_open_regular(void);

/** Reads NAME if it is regular and can be opened.  Returns false where a look has to say more. */
bool ferry__contents_open_regular(struct member *member, int dir, const char *name,
				  struct ferry_file *file, struct shared_arena *arena);

/** Stores the contents of PLACE, and ERROR, in FILE. */
void ferry__contents_store(struct ferry_file *file, struct place *place, int error);

#endif /* FILES_CONTENTS_H */

/* SPDX-License-Identifier: MIT */
/* How much memory there is before the kernel would have to kill a process. */
#ifndef PREFAULT_ROOM_H
#define PREFAULT_ROOM_H

#include <pthread.h>

#include "control_group.h"
#include "pages.h"

/* The memory that the threads of one call may still take. */
struct room {
	pthread_mutex_t lock;
	size_t left;  /* bytes, since the last look */
	bool endless; /* the pages take no memory that is counted */
};

/** For a call that maps PAGES, whose memory is counted if LIMITED.  May change errno. */
void ferry__room_init(struct room *room, const struct pages *pages, bool limited);
void ferry__room_destroy(struct room *room);

/** Takes the memory that PAGES still need.  Returns false if there is too little.  May change
 * errno.
 */
bool ferry__room_take(struct room *room, const struct pages *pages);

/**
 * The bytes that the system and its control groups still have, as far as that matters to one who
 * needs ENOUGH.  May change errno.
 */
size_t ferry__memory_left(const struct system_files *files, size_t enough);

#endif /* PREFAULT_ROOM_H */

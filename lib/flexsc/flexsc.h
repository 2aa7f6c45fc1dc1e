/* SPDX-License-Identifier: MIT */
/* struct ferry_flexsc: the runners, and which of them serves which slot. */
#ifndef FLEXSC_H
#define FLEXSC_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include <ferry_flexsc.h>

#include "runner.h"
#include "watcher.h"

/* The most runners there can be, stand-ins for blocked runners included. */
#define MAX_RUNNERS (FERRY_FLEXSC_MAX_RUNNERS + FERRY_FLEXSC_MAX_STANDINS)

struct ferry_flexsc {
	unsigned int entries; /* of each set */
	unsigned int slots;
	unsigned int standins;	 /* at most */
	unsigned int flags;	 /* of each set */
	unsigned long id;	 /* never used again in this process */
	bool trusts;		 /* FERRY_FLEXSC_UNCONFINED */
	unsigned int key_rights; /* of each runner */
	enum flexsc_place place; /* of each runner */
	long spin_ns;
	int cpu[FERRY_FLEXSC_MAX_RUNNERS];
	cpu_set_t cpus; /* of the thread that started the runners, and theirs: for stand-ins */

	int eventfd; /* that single calls signal, or -1: atomic, changed under the mutex */
	struct watcher watcher; /* runs if there is an eventfd */

	/* slot[i] is the runner that serves slot i now: atomic, changed under the mutex. */
	struct runner *slot[FERRY_FLEXSC_MAX_RUNNERS];

	/* All runners, in the order of their start.  Elements never change; count is atomic. */
	struct runner *runner[MAX_RUNNERS];
	unsigned int count;
};

/*
 * Protects starting runners, changing their slots, and opening the eventfd.  fork() waits for it,
 * so that no child finds it locked.
 */
extern pthread_mutex_t ferry__flexsc_mutex;

/** The runner that serves SLOT now. */
static inline struct runner *flexsc_slot(const struct ferry_flexsc *flexsc, unsigned int slot)
{
	return __atomic_load_n(&flexsc->slot[slot], __ATOMIC_ACQUIRE);
}

#endif /* FLEXSC_H */

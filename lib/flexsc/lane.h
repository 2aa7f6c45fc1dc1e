/* SPDX-License-Identifier: MIT */
/*
 * A lane: the way of one kernel thread to one of the runners.  Each user-level thread has one.
 * Calls that find no entry free wait in the lane.
 */
#ifndef FLEXSC_LANE_H
#define FLEXSC_LANE_H

#include <stdbool.h>

#include "ring.h"
#include "thread.h"

struct lane {
	/* Entries of the ring less calls under way and pending ones.  In a timed lane far
	 * below 0, so that no call takes the short way. */
	int room;

	/*
	 * The set's runner.  Where posting takes a fence, a word that never says RUNNING, and where
	 * it is to wake nobody, one that always does.
	 */
	const unsigned int *runner;
	struct lane *next; /* in a circle */
	struct ring ring;
	struct queue full; /* threads with pending calls */
	unsigned int slot;
	unsigned int counted; /* ring.tail when calls were last counted */
	bool timed;	      /* notes when calls are posted */

	/* The ring's progress when it was last looked at, when it got there, and when to look next.
	 */
	unsigned int progress;
	long still_since, look_at; /* ns */
};

/** Sets up a lane to the runner that serves SLOT: 0, or -EAGAIN if it has no entries left. */
int ferry__lane_start(struct lane *lane, struct ferry_flexsc *flexsc, unsigned int slot);

/** Opens a ring to the runner that serves the slot now: 0, or -EAGAIN with the lane unchanged. */
int ferry__lane_open(struct lane *lane, struct ferry_flexsc *flexsc);

/** Sets lane->runner. */
void ferry__lane_choose_word(struct lane *lane, const struct ferry_flexsc *flexsc);

/** Posts pending calls while there are entries for them. */
void ferry__lane_post_pending(struct lane *lane);

/** Collects all calls that are done, in any order: their threads go to READY. */
void ferry__lane_collect_all(struct lane *lane, struct queue *ready);

/** ferry__ring_post_bell(). */
bool ferry__lane_post_bell(struct lane *lane, struct bell *bell);

/** Notes that the lane has another ring: the calls of OLD are no longer under way. */
void ferry__lane_leave(struct lane *lane, const struct ring *old);

/** The rest of lane_collect() where calls are pending or timed, or THREAD is none but the bell. */
struct ferry_thread *ferry__lane_collect_slowly(struct lane *lane, struct ferry_thread *thread,
						const struct ferry_entry *entry);

/** Gives ENTRY, whose call is filled in, to the runner. */
static inline void lane_submit(struct lane *lane, struct ferry_entry *entry)
{
	entry_publish(entry);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the light fence */
	if (FERRY_UNLIKELY(__atomic_load_n(lane->runner, __ATOMIC_RELAXED) != FERRY_RUNNER_RUNNING))
		ferry__entry_rouse(lane->ring.runner->set, entry);
}

/** The thread whose call is the lane's oldest, if that is done and now collected, or NULL. */
static inline struct ferry_thread *lane_collect(struct lane *lane)
{
	unsigned int head = lane->ring.head;
	struct ferry_entry *entry = &lane->ring.entry[head % RING];
	struct ferry_thread *thread;

	if (!entry_is_done(entry))
		return NULL;
	thread = lane->ring.waiter[head % RING];
	thread->result = entry->result;
	__atomic_store_n(&entry->status, FERRY_ENTRY_FREE, __ATOMIC_RELAXED);
	lane->ring.head = head + 1;
	__builtin_prefetch(entry + 1); /* the next one to collect, but for the last in the ring */
	if (FERRY_UNLIKELY(++lane->room <= 0))
		return ferry__lane_collect_slowly(lane, thread, entry);
	return thread;
}

#endif /* FLEXSC_LANE_H */

/* SPDX-License-Identifier: MIT */
/*
 * A kernel thread's calls to one runner: 64 entries that are posted and collected in a
 * circle.  The runner mostly serves neighbours in order, so the fast path looks at the oldest only.
 * It may also start in the middle, so a thread must look at all of them before it sleeps.
 * Entries without a call under way are FREE.
 */
#ifndef FLEXSC_RING_H
#define FLEXSC_RING_H

#include "runner.h"
#include "thread.h"

#define RING WORD_BITS

/*
 * Wakes the scheduler from its epoll: a posted call that writes to the eventfd.  The write comes
 * before the call is DONE, so both are counted: while more bells have rung than were collected,
 * one is about to be DONE, and its ring is not to be waited for by that bell.
 */
struct bell {
	struct ferry_thread waiter; /* no thread, and thus without lane; it must be first */
	int eventfd;
	long rung; /* less those that were collected */
};

struct ring {
	struct ferry_entry *entry;
	unsigned int head, tail; /* of the calls under way; modulo RING they are indexes */
	unsigned int holes;	 /* between head and tail: collected or withdrawn */
	struct ferry_thread *waiter[RING]; /* NULL: a hole */
	struct runner *runner;
	int tid;	   /* of the kernel thread that posts here */
	bool has_bell;	   /* one of the calls is the scheduler's: see ferry__ring_post_bell() */
	struct ring *next; /* of those that are held up */
};

/** Opens a ring to the runner that serves SLOT: 0, or -EAGAIN if it has no entries left. */
int ferry__ring_open(struct ring *ring, struct ferry_flexsc *flexsc, unsigned int slot);

/** Gives the entries back: no call is under way. */
void ferry__ring_close(const struct ring *ring);

/** Has the bell ring once the runner comes to it.  False if there is no entry for that. */
bool ferry__ring_post_bell(struct ring *ring, struct bell *bell);

/** Whether WAITER is a bell's; then the bell, which is over, is counted. */
static inline bool ring_collect_bell(struct ring *ring, struct ferry_thread *waiter)
{
	if (waiter->lane)
		return false;
	((struct bell *)waiter)->rung--;
	ring->has_bell = false;
	return true;
}

/** Puts the threads whose calls are done into READY, whatever the order; head is then no hole. */
void ferry__ring_collect(struct ring *ring, struct queue *ready);

/** Makes the entry at INDEX, whose call is collected or withdrawn, a hole. */
static inline void ring_leave_hole(struct ring *ring, unsigned int index)
{
	ring->waiter[index] = NULL;
	ring->holes++;
}

/** How far the ring has come: grows with each call that is collected. */
static inline unsigned int ring_progress(const struct ring *ring)
{
	return ring->head + ring->holes;
}

/** Calls of threads that are neither collected nor withdrawn. */
static inline unsigned int ring_under_way(const struct ring *ring)
{
	return ring->tail - ring_progress(ring) - ring->has_bell;
}

/** Entries from the oldest call to the youngest one, holes included. */
static inline unsigned int ring_calls(const struct ring *ring)
{
	return ring->tail - ring->head;
}

/** The call that was posted so many calls after the oldest one. */
static inline struct ferry_entry *ring_behind(const struct ring *ring, unsigned int calls)
{
	return &ring->entry[(ring->head + calls) % RING];
}

static inline struct ferry_entry *ring_oldest(const struct ring *ring)
{
	return ring_behind(ring, 0);
}

/** The entry of the next call, which WAITER waits for: to be filled in and submitted. */
static inline struct ferry_entry *ring_claim(struct ring *ring, struct ferry_thread *waiter)
{
	unsigned int index = ring->tail++ % RING;

	ring->waiter[index] = waiter;
	ring->entry[index].result = ring->tid;
	return &ring->entry[index];
}

#endif /* FLEXSC_RING_H */

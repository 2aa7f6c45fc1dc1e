/* SPDX-License-Identifier: MIT */
/*
 * A kernel thread's calls to one runner: 64 entries that are posted and collected in a
 * circle.  The runner serves neighbours in order, so it is enough to look at the oldest.
 * Entries without a call under way are FREE.
 */
#ifndef FLEXSC_RING_H
#define FLEXSC_RING_H

#include "runner.h"

#define RING WORD_BITS

struct ferry_thread;

struct ring {
	struct ferry_entry *entry;
	unsigned int head, tail; /* of the calls under way; modulo RING they are indexes */
	struct ferry_thread *waiter[RING]; /* NULL: taken elsewhere */
	struct runner *runner;
	struct ring *next; /* of those that are held up */
};

/** Opens a ring to the runner that serves SLOT: 0, or -EAGAIN if it has no entries left. */
int ferry__ring_open(struct ring *ring, struct ferry_flexsc *flexsc, unsigned int slot);

/** Gives the entries back: no call is under way. */
void ferry__ring_close(const struct ring *ring);

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
	return &ring->entry[index];
}

#endif /* FLEXSC_RING_H */

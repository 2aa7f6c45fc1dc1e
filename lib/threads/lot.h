/* SPDX-License-Identifier: MIT */
/*
 * The parking lot: threads that wait for a lock, a condition, a semaphore or a futex, by its
 * address.  Whoever frees such a thing looks here afterwards; see lot_wake().
 */
#ifndef THREADS_LOT_H
#define THREADS_LOT_H

#include "busy.h"
#include "cpu.h"
#include "wait.h"

#define BUCKETS 1024

struct bucket {
	struct wait_list list;
	int waiters; /* that are about to try for the last time, or are parked */
} __attribute__((aligned(64)));

extern struct bucket lot[BUCKETS] __attribute__((visibility("hidden")));

static inline struct bucket *lot_bucket(const void *address)
{
	return &lot[((unsigned long)address >> 3) * 0x9E3779B97F4A7C15UL >> 54];
}

/* Before the last try. */
static inline struct bucket *lot_enter(const void *address)
{
	struct bucket *bucket = lot_bucket(address);

	/* Ordered before the try, as the thing's change is before lot_wake()'s look: one sees the
	 * other. */
	__atomic_fetch_add(&bucket->waiters, 1, __ATOMIC_SEQ_CST);
	order_after_atomic();
	return bucket;
}

static inline void lot_leave(struct bucket *bucket)
{
	__atomic_fetch_sub(&bucket->waiters, 1, __ATOMIC_RELEASE);
}

/* Waits for a wake-up at ADDRESS after SEQ, as wait_for(). */
enum wait_state lot_wait(struct bucket *bucket, const void *address, unsigned int seq,
			 int64_t deadline);

/**
 * Wakes at most MOST threads that wait for ADDRESS, which the caller has changed by an atomic
 * instruction, or before a fence.  Returns how many.
 */
static inline int lot_wake(const void *address, int most)
{
	struct bucket *bucket = lot_bucket(address);

	order_after_atomic(); /* the change, before the look for waiters */
	if (__builtin_expect(!__atomic_load_n(&bucket->waiters, __ATOMIC_SEQ_CST), 1))
		return 0;
	if (__builtin_expect(is_busy(), 0)) {
		busy_defer(DEFERRED_LOT);
		return 0;
	}
	return wait_wake(&bucket->list, address, most, 0, 1);
}

/* Wakes all that wait for anything. */
void lot_wake_all(void);

/* After fork(), in the child. */
void lot_reset(void);

#endif /* THREADS_LOT_H */

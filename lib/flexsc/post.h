/* SPDX-License-Identifier: MIT */
/* Posting a user-level thread's call and switching to others, all of it inside the library. */
#ifndef FLEXSC_POST_H
#define FLEXSC_POST_H

#include "direct.h"
#include "scheduler.h"

/** Posts CALL once there is an entry for it, and waits; its room is already counted. */
long ferry__post_pending(struct scheduler *s, const struct ferry_entry *call);

/** The same for a call by its arguments: a function, so that the common case needs no stack. */
long ferry__post_slowly(long nr, long a, long b, long c, long d, long e, long f);

/** Makes a call of any way, without regard to descriptors: posts it if it may be posted. */
long ferry__post(struct scheduler *s, long nr, const __s64 arg[]);

/** The short way of ferry__scheduler_pick(). */
static inline __attribute__((__always_inline__)) long post_wait(struct scheduler *s)
{
	struct ferry_thread *next;
	struct lane *lane;

	if (FERRY_UNLIKELY(s->left <= 0 || s->ready.first)) {
		next = ferry__scheduler_pick(s);
	} else {
		s->left--;
		lane = s->turn;
		s->turn = lane->next;
		next = lane_collect(lane);
		if (FERRY_UNLIKELY(!next))
			next = ferry__scheduler_pick(s);
	}
	return scheduler_switch(s, next, false)->result;
}

/** Posts a call that a runner may make, and waits for its result. */
static inline long post_call(struct scheduler *s, long nr, long a, long b, long c, long d, long e,
			     long f)
{
	struct ferry_thread *self = s->current;
	struct lane *lane = self->lane;
	struct ferry_entry *entry;

	if (FERRY_UNLIKELY(--lane->room < 0))
		return ferry__post_slowly(nr, a, b, c, d, e, f);
	entry = ring_claim(&lane->ring, self);
	entry_fill(entry, nr, a, b, c, d, e, f);
	lane_submit(lane, entry);
	return post_wait(s);
}

/** The same for a call of at most three arguments. */
static inline long post_call3(struct scheduler *s, long nr, long a, long b, long c)
{
	struct ferry_thread *self = s->current;
	struct lane *lane = self->lane;
	struct ferry_entry *entry;

	if (FERRY_UNLIKELY(--lane->room < 0))
		return ferry__post_slowly(nr, a, b, c, 0, 0, 0);
	entry = ring_claim(&lane->ring, self);
	entry->nr = (short)nr;
	entry->arg[0] = a;
	entry->arg[1] = b;
	entry->arg[2] = c;
	lane_submit(lane, entry);
	return post_wait(s);
}

/** Whether no other thread can run before the call has ended, so that the caller may make it. */
static inline bool post_would_be_alone(const struct scheduler *s)
{
	return FERRY_UNLIKELY(s->current->lane->room == (int)RING) && !s->poller.waiting &&
	       !s->sleepers.count && ferry__scheduler_is_alone(s);
}

#endif /* FLEXSC_POST_H */

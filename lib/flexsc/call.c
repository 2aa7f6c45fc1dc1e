// SPDX-License-Identifier: MIT
/* A user-level thread's calls: the path that decides what flexsc costs. */
#include "direct.h"
#include "here.h"
#include "scheduler.h"
#include "spin.h"

/* The short way of ferry__scheduler_pick().  Leaves the library. */
static inline __attribute__((__always_inline__)) long wait_for_result(struct scheduler *s)
{
	struct ferry_thread *next;
	struct lane *lane;
	long result;

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
	result = scheduler_switch(s, next, false)->result;
	scheduler_exit(s);
	return result;
}

/* Makes CALL once there is an entry for it; room is already counted. */
static long post_pending(struct scheduler *s, const struct ferry_entry *call)
{
	struct ferry_thread *self = s->current;
	long result;

	if (s->timed)
		self->times.asked = clock_ns();
	self->pending = call;
	queue_put(&self->lane->full, self);
	ferry__lane_post_pending(self->lane);
	result = wait_for_result(s);
	if (s->timed)
		self->times.seen = clock_ns();
	return result;
}

/* Separate functions, so that the common case needs no stack.  Room is already counted. */
static __attribute__((__noinline__)) long call_slowly(long nr, long a, long b, long c, long d,
						      long e, long f)
{
	struct ferry_entry call;

	entry_fill(&call, nr, a, b, c, d, e, f);
	return post_pending(ferry__scheduler, &call);
}

static __attribute__((__noinline__)) long call_directly(long nr, long a, long b, long c, long d,
							long e, long f)
{
	const __s64 arg[] = { a, b, c, d, e, f };
	struct scheduler *s = ferry__scheduler;

	if (!s || s->posting < 0 || scheduler_keys_differ(s) || ferry__depends_on_caller(nr, arg))
		return ferry__call_here(nr, arg);
	scheduler_enter(s);
	s->current->lane->room--;
	return call_slowly(nr, a, b, c, d, e, f);
}

long ferry_thread_call(long nr, long a, long b, long c, long d, long e, long f)
{
	struct scheduler *s = ferry__scheduler;
	struct ferry_entry *entry;
	struct ferry_thread *self;
	struct lane *lane;

	if (FERRY_UNLIKELY(!s || !may_be_posted(nr, s->posting) || scheduler_keys_differ(s)))
		return call_directly(nr, a, b, c, d, e, f);
	scheduler_enter(s);
	self = s->current;
	lane = self->lane;
	if (FERRY_UNLIKELY(--lane->room < 0))
		return call_slowly(nr, a, b, c, d, e, f);
	entry = ring_claim(&lane->ring, self);
	entry_fill(entry, nr, a, b, c, d, e, f);
	lane_submit(lane, entry);
	return wait_for_result(s);
}

/* For the most frequent calls: twelve instructions fewer, wrapper included. */
long ferry_thread_call3(long nr, long a, long b, long c)
{
	struct scheduler *s = ferry__scheduler;
	struct ferry_entry *entry;
	struct ferry_thread *self;
	struct lane *lane;

	if (FERRY_UNLIKELY(!s || !may_be_posted(nr, s->posting) || scheduler_keys_differ(s)))
		return call_directly(nr, a, b, c, 0, 0, 0);
	scheduler_enter(s);
	self = s->current;
	lane = self->lane;
	if (FERRY_UNLIKELY(--lane->room < 0))
		return call_slowly(nr, a, b, c, 0, 0, 0);
	entry = ring_claim(&lane->ring, self);
	entry->nr = (short)nr;
	entry->arg[0] = a;
	entry->arg[1] = b;
	entry->arg[2] = c;
	lane_submit(lane, entry);
	return wait_for_result(s);
}

long ferry_thread_batch(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	struct scheduler *s = ferry__scheduler;
	struct ferry_entry call;

	if (!s || scheduler_keys_differ(s) || !ferry__batch_may_be_posted(calls, ncall, s->posting))
		return ferry__batch_here(rets, calls, ncall);
	scheduler_enter(s);
	entry_fill(&call, FERRY_NR_BATCH, (long)rets, (long)calls, (long)ncall, 0, 0, 0);
	s->current->lane->room--;
	return post_pending(s, &call);
}

struct ferry_flexsc_times ferry_flexsc_times(void)
{
	static const struct ferry_flexsc_times none;

	return ferry__scheduler && ferry__scheduler->timed ? ferry__scheduler->current->times :
							     none;
}

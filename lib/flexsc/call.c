// SPDX-License-Identifier: MIT
/* A user-level thread's calls: the path that decides what flexsc costs. */
#include "thread.h"

/* All but argc, which the entries of rings have been given once. */
static inline void fill(struct ferry_entry *entry, long nr, long a, long b, long c, long d, long e,
			long f)
{
	entry->nr = (short)nr;
	entry->arg[0] = a;
	entry->arg[1] = b;
	entry->arg[2] = c;
	entry->arg[3] = d;
	entry->arg[4] = e;
	entry->arg[5] = f;
}

static void copy_call(struct ferry_entry *entry, const struct ferry_entry *call)
{
	const long *a = call->arg;

	fill(entry, call->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void lane_post_pending(struct lane *lane)
{
	struct ferry_thread *thread;
	struct ferry_entry *entry;

	while (lane->full.first && ring_calls(&lane->ring) < RING) {
		thread = queue_take(&lane->full);
		entry = ring_claim(&lane->ring, thread);
		copy_call(entry, thread->pending);
		thread->times.posted = scheduler->timed ? clock_ns() : 0;
		lane_submit(lane, entry);
	}
}

void lane_collect_slowly(struct lane *lane, struct ferry_thread *thread,
			 const struct ferry_entry *entry)
{
	thread_note_times(thread, entry);
	lane_post_pending(lane);
}

/* Those that are ready come first here and last in scheduler_pick(), so neither kind starves. */
static inline long wait_for_result(struct scheduler *s)
{
	struct ferry_thread *next;
	struct lane *lane;

	if (FERRY_UNLIKELY(s->ready.first)) {
		next = queue_take(&s->ready);
	} else {
		lane = s->turn;
		s->turn = lane->next;
		next = lane_collect(lane);
		if (FERRY_UNLIKELY(!next))
			next = scheduler_pick(s);
	}
	return scheduler_switch(s, next, false)->result;
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
	lane_post_pending(self->lane);
	result = wait_for_result(s);
	if (s->timed)
		self->times.seen = clock_ns();
	return result;
}

/* By themselves, so that the common case needs no stack. */
static __attribute__((__noinline__)) long call_directly(long nr, long a, long b, long c, long d,
							long e, long f)
{
	return call_here(nr, (const long[]){ a, b, c, d, e, f });
}

static __attribute__((__noinline__)) long call_slowly(long nr, long a, long b, long c, long d,
						      long e, long f)
{
	struct ferry_entry call;

	fill(&call, nr, a, b, c, d, e, f);
	return post_pending(scheduler, &call);
}

long ferry_thread_call(long nr, long a, long b, long c, long d, long e, long f)
{
	struct scheduler *s = scheduler;
	struct ferry_entry *entry;
	struct ferry_thread *self;
	struct lane *lane;

	if (FERRY_UNLIKELY(!s || !may_be_posted(nr)))
		return call_directly(nr, a, b, c, d, e, f);
	self = s->current;
	lane = self->lane;
	if (FERRY_UNLIKELY(--lane->room < 0))
		return call_slowly(nr, a, b, c, d, e, f);
	entry = ring_claim(&lane->ring, self);
	fill(entry, nr, a, b, c, d, e, f);
	lane_submit(lane, entry);
	return wait_for_result(s);
}

/* Twelve instructions less, wrapper included, for what is called most. */
long ferry_thread_call3(long nr, long a, long b, long c)
{
	struct scheduler *s = scheduler;
	struct ferry_entry *entry;
	struct ferry_thread *self;
	struct lane *lane;

	if (FERRY_UNLIKELY(!s || !may_be_posted(nr)))
		return call_directly(nr, a, b, c, 0, 0, 0);
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
	struct scheduler *s = scheduler;
	struct ferry_entry call;

	if (!s || !batch_may_be_posted(calls, ncall))
		return ferry_batch(rets, calls, ncall, 0, 0);
	fill(&call, FERRY_NR_BATCH, (long)rets, (long)calls, (long)ncall, 0, 0, 0);
	s->current->lane->room--;
	return post_pending(s, &call);
}

struct ferry_flexsc_times ferry_flexsc_times(void)
{
	static const struct ferry_flexsc_times none;

	return scheduler && scheduler->timed ? scheduler->current->times : none;
}

// SPDX-License-Identifier: MIT
/* A user-level thread's calls: the path that decides what flexsc costs. */
#include "here.h"
#include "post.h"
#include "waiting_call.h"

static __attribute__((__noinline__)) long call_specially(long nr, long a, long b, long c, long d,
							 long e, long f)
{
	const __s64 arg[] = { a, b, c, d, e, f };
	struct scheduler *s = ferry__scheduler;
	long result;

	if (!s || scheduler_is_inside(s))
		return ferry__call_here(nr, arg);
	scheduler_enter(s);
	if (way_of(nr) >= WAITS_FOR_FD)
		result = ferry__waiting_call(s, nr, arg);
	else
		result = ferry__post(s, nr, arg);
	scheduler_exit(s);
	return result;
}

/* Whether call NR, whose first argument is A, is posted without a closer look. */
static inline bool is_just_posted(const struct scheduler *s, long nr, long a)
{
	unsigned char way = way_of(nr);

	if (scheduler_keys_differ(s) || post_would_be_alone(s))
		return false;
	return FERRY_LIKELY(way <= s->posting) ||
	       (way == WAITS_FOR_FD && s->posting >= ANY_RUNNER &&
		poller_is_plain(&s->poller, (unsigned long)a));
}

long ferry_thread_call(long nr, long a, long b, long c, long d, long e, long f)
{
	struct scheduler *s = ferry__scheduler;
	long result;

	if (FERRY_UNLIKELY(!s || !is_just_posted(s, nr, a)))
		return call_specially(nr, a, b, c, d, e, f);
	scheduler_enter(s);
	result = post_call(s, nr, a, b, c, d, e, f);
	scheduler_exit(s);
	return result;
}

/* For the most frequent calls: twelve instructions fewer, wrapper included. */
long ferry_thread_call3(long nr, long a, long b, long c)
{
	struct scheduler *s = ferry__scheduler;
	long result;

	if (FERRY_UNLIKELY(!s || !is_just_posted(s, nr, a)))
		return call_specially(nr, a, b, c, 0, 0, 0);
	scheduler_enter(s);
	result = post_call3(s, nr, a, b, c);
	scheduler_exit(s);
	return result;
}

long ferry_thread_batch(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	struct scheduler *s = ferry__scheduler;
	struct ferry_entry call;
	long result;

	if (!s || scheduler_is_inside(s) || scheduler_keys_differ(s) ||
	    !ferry__batch_may_be_posted(calls, ncall, s->limit))
		return ferry__batch_here(rets, calls, ncall);
	scheduler_enter(s);
	entry_fill(&call, FERRY_NR_BATCH, (long)rets, (long)calls, (long)ncall, 0, 0, 0);
	s->current->lane->room--;
	result = ferry__post_pending(s, &call);
	scheduler_exit(s);
	return result;
}

struct ferry_flexsc_times ferry_flexsc_times(void)
{
	static const struct ferry_flexsc_times none;

	return ferry__scheduler && ferry__scheduler->timed ? ferry__scheduler->current->times :
							     none;
}

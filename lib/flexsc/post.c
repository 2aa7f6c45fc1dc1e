// SPDX-License-Identifier: MIT
#include "post.h"

#include "here.h"
#include "spin.h"

long ferry__post_pending(struct scheduler *s, const struct ferry_entry *call)
{
	struct ferry_thread *self = s->current;
	long result;

	if (s->timed)
		self->times.asked = clock_ns();
	self->pending = call;
	queue_put(&self->lane->full, self);
	ferry__lane_post_pending(self->lane);
	result = post_wait(s);
	if (s->timed)
		self->times.seen = clock_ns();
	return result;
}

long ferry__post_slowly(long nr, long a, long b, long c, long d, long e, long f)
{
	struct ferry_entry call;

	entry_fill(&call, nr, a, b, c, d, e, f);
	return ferry__post_pending(ferry__scheduler, &call);
}

long ferry__post(struct scheduler *s, long nr, const __s64 arg[])
{
	bool may = may_be_posted(nr, s->limit) ||
		   (s->limit >= ANY_RUNNER && !ferry__depends_on_caller(nr, arg));
	long result;

	if (!may || scheduler_keys_differ(s) || post_would_be_alone(s))
		return ferry__call_here(nr, arg);
	if (!s->eager && ferry__call_without_waiting(nr, arg, &result)) {
		s->made++;
		ferry__scheduler_took_turn(s);
		return result;
	}
	return post_call(s, nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

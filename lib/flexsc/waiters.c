// SPDX-License-Identifier: MIT
#include "waiters.h"

#include "spin.h"

static void append(struct ferry_waiters *waiters, struct ferry_thread *thread)
{
	thread->waits_in = waiters;
	thread->next_waiter = NULL;
	thread->previous_waiter = waiters->last;
	if (waiters->last)
		waiters->last->next_waiter = thread;
	else
		waiters->first = thread;
	waiters->last = thread;
}

static void remove_waiter(struct ferry_waiters *waiters, struct ferry_thread *thread)
{
	thread->waits_in = NULL;
	if (thread->previous_waiter)
		thread->previous_waiter->next_waiter = thread->next_waiter;
	else
		waiters->first = thread->next_waiter;
	if (thread->next_waiter)
		thread->next_waiter->previous_waiter = thread->previous_waiter;
	else
		waiters->last = thread->previous_waiter;
}

bool ferry__waiters_wait(struct scheduler *s, struct ferry_waiters *waiters, long until)
{
	struct ferry_thread *self = s->current;

	append(waiters, self);
	if (ferry__scheduler_wait_until(s, until))
		return true;
	if (self->waits_in)
		remove_waiter(waiters, self);
	return false;
}

struct ferry_thread *ferry__waiters_wake(struct scheduler *s, struct ferry_waiters *waiters)
{
	struct ferry_thread *thread;

	while ((thread = waiters->first)) {
		remove_waiter(waiters, thread);
		if (thread->timed_out) /* and is ready for that reason */
			continue;
		scheduler_wake(s, thread);
		return thread;
	}
	return NULL;
}

long ferry__time_after(long ns)
{
	long now = clock_ns();

	return ns > NO_LIMIT - now ? NO_LIMIT : now + ns;
}

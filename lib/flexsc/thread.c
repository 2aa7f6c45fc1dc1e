// SPDX-License-Identifier: MIT
/* The public functions of user-level threads, except calls. */
#include <string.h>

#include "flexsc.h"
#include "scheduler.h"
#include "spin.h"
#include "waiters.h"

/* ---- spawning and joining ---- */

static void thread_main(void)
{
	struct ferry_thread *self = ferry__scheduler->current;

	scheduler_arrived(ferry__scheduler, self);
	scheduler_exit(ferry__scheduler);
	self->argument = self->start(self->argument);
	scheduler_enter(ferry__scheduler);
	self->has_returned = true;
	ferry__waiters_wake(ferry__scheduler, &self->joiner);
	ferry__scheduler_leave(ferry__scheduler);
}

/* The thread itself lies at the top of its stack. */
static struct ferry_thread *thread_new(struct ferry_flexsc *flexsc)
{
	struct ferry_thread *thread;
	struct stack *stack;
	size_t size;

	pthread_mutex_lock(&ferry__flexsc_mutex);
	stack = ferry__stack_get(&flexsc->stacks);
	pthread_mutex_unlock(&ferry__flexsc_mutex);
	if (!stack)
		return NULL;
	thread =
		(struct ferry_thread *)(ferry__stack_top(stack) - (sizeof(*thread) + 63) / 64 * 64);
	memset(thread, 0, sizeof(*thread));
	size = (size_t)((char *)thread - stack->bottom);
	thread->stack = stack;
	context_new(&thread->context, (char *)thread, thread_main);
	fiber_new(&thread->fiber, stack->bottom, size);
	return thread;
}

static void thread_free(struct ferry_flexsc *flexsc, struct ferry_thread *thread)
{
	fiber_delete(&thread->fiber);
	pthread_mutex_lock(&ferry__flexsc_mutex);
	ferry__stack_put(&flexsc->stacks, thread->stack);
	pthread_mutex_unlock(&ferry__flexsc_mutex);
}

static int ensure_scheduler(struct ferry_flexsc *flexsc)
{
	struct scheduler *s = ferry__scheduler;

	if (!CAN_SWITCH || has_shadow_stack())
		return -ENOSYS;
	if (!s)
		return ferry__scheduler_start(flexsc);
	return s->flexsc == flexsc && !scheduler_is_inside(s) ? 0 : -EBUSY;
}

static void add_to_all(struct scheduler *s, struct ferry_thread *thread)
{
	thread->next_of_all = s->all;
	if (s->all)
		s->all->previous_of_all = thread;
	s->all = thread;
}

static void remove_from_all(struct scheduler *s, struct ferry_thread *thread)
{
	if (thread->previous_of_all)
		thread->previous_of_all->next_of_all = thread->next_of_all;
	else
		s->all = thread->next_of_all;
	if (thread->next_of_all)
		thread->next_of_all->previous_of_all = thread->previous_of_all;
}

static int spawn(struct scheduler *s, struct ferry_thread **thread, void *(*start)(void *argument),
		 void *argument)
{
	struct ferry_thread *new = thread_new(s->flexsc);

	if (!new)
		return -ENOMEM;
	new->start = start;
	new->argument = argument;
	new->lane = s->give;
	s->give = s->give->next;
	s->threads++;
	add_to_all(s, new);
	queue_put(&s->ready, new);
	*thread = new;
	return 0;
}

int ferry_thread_spawn(struct ferry_thread **thread, struct ferry_flexsc *flexsc,
		       void *(*start)(void *argument), void *argument)
{
	int error = ensure_scheduler(flexsc);
	struct scheduler *s = ferry__scheduler;

	if (error)
		return error;
	scheduler_enter(s);
	error = spawn(s, thread, start, argument);
	if (s->threads)
		scheduler_exit(s);
	else
		ferry__scheduler_end();
	return error;
}

static bool waits_for(const struct ferry_thread *thread, const struct ferry_thread *other)
{
	for (; thread; thread = thread->joining)
		if (thread == other)
			return true;
	return false;
}

static int join_until(struct ferry_thread *thread, void **value, long until)
{
	struct scheduler *s = ferry__scheduler;
	struct ferry_thread *self = s->current;

	if (scheduler_is_inside(s))
		return -EBUSY;
	if (waits_for(thread, self))
		return -EDEADLK;
	scheduler_enter(s);
	self->joining = thread;
	if (!thread->has_returned)
		ferry__waiters_wait(s, &thread->joiner, until);
	self->joining = NULL;
	if (!thread->has_returned) {
		scheduler_exit(s);
		return -ETIMEDOUT;
	}
	if (value)
		*value = thread->argument;
	remove_from_all(s, thread);
	thread_free(s->flexsc, thread);
	if (--s->threads)
		scheduler_exit(s);
	else
		ferry__scheduler_end();
	return 0;
}

int ferry_thread_join(struct ferry_thread *thread, void **value)
{
	return join_until(thread, value, NO_LIMIT);
}

int ferry_thread_join_for(struct ferry_thread *thread, void **value, long ns)
{
	return join_until(thread, value, ferry__time_after(ns));
}

int ferry_thread_set_name(struct ferry_thread *thread, const char *name)
{
	size_t size = strlen(name) + 1;

	if (size > sizeof(thread->name))
		return -ERANGE;
	memcpy(thread->name, name, size);
	return 0;
}

const char *ferry_thread_name(const struct ferry_thread *thread)
{
	return thread->name;
}

struct ferry_thread *ferry_thread_self(void)
{
	struct scheduler *s = ferry__scheduler;

	return s && s->current != &s->main ? s->current : NULL;
}

/* ---- waiting ---- */

void ferry_thread_yield(void)
{
	struct scheduler *s = ferry__scheduler;

	if (!s || scheduler_is_inside(s))
		return;
	scheduler_enter(s);
	queue_put(&s->ready, s->current);
	ferry__scheduler_wait(s);
	scheduler_exit(s);
}

static void sleep_here(long ns)
{
	struct timespec left = timespec_of(ns);

	while (ferry_rawcall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&left, (long)&left, 0,
			     0) == -EINTR)
		;
}

void ferry_thread_sleep(long ns)
{
	struct scheduler *s = ferry__scheduler;

	if (ns <= 0)
		return ferry_thread_yield();
	if (!s || scheduler_is_inside(s))
		return sleep_here(ns);
	scheduler_enter(s);
	scheduler_hurry(s);
	if (ferry__sleepers_add(&s->sleepers, s->current, ferry__time_after(ns)))
		sleep_here(ns);
	else
		ferry__scheduler_wait(s);
	scheduler_exit(s);
}

// SPDX-License-Identifier: MIT
/* Mutexes and conditions of user-level threads.  A mutex passes to the thread that is woken. */
#include <errno.h>

#include "waiters.h"

/* Stands for the kernel thread's own code, also before and after it has a scheduler. */
static _Thread_local char own_code;

static struct ferry_thread *owner_of(const struct scheduler *s, struct ferry_thread *thread)
{
	return !s || thread == &s->main ? (struct ferry_thread *)(void *)&own_code : thread;
}

static struct ferry_thread *caller(const struct scheduler *s)
{
	return owner_of(s, s ? s->current : NULL);
}

int ferry_mutex_trylock(struct ferry_mutex *mutex)
{
	if (mutex->owner)
		return -EBUSY;
	mutex->owner = caller(ferry__scheduler);
	return 0;
}

int ferry_mutex_lock(struct ferry_mutex *mutex)
{
	struct scheduler *s = ferry__scheduler;

	if (!ferry_mutex_trylock(mutex))
		return 0;
	if (!s || scheduler_is_inside(s) || mutex->owner == caller(s))
		return -EDEADLK;
	scheduler_enter(s);
	ferry__waiters_wait(s, &mutex->waiters, NO_LIMIT);
	scheduler_exit(s);
	return 0;
}

static void pass_on(struct scheduler *s, struct ferry_mutex *mutex)
{
	struct ferry_thread *next = ferry__waiters_wake(s, &mutex->waiters);

	mutex->owner = next ? owner_of(s, next) : NULL;
}

int ferry_mutex_unlock(struct ferry_mutex *mutex)
{
	struct scheduler *s = ferry__scheduler;

	if (mutex->owner != caller(s))
		return -EPERM;
	if (!s) {
		mutex->owner = NULL;
		return 0;
	}
	if (scheduler_is_inside(s))
		return -EBUSY;
	scheduler_enter(s);
	pass_on(s, mutex);
	scheduler_exit(s);
	return 0;
}

static int wait_until(struct ferry_condition *condition, struct ferry_mutex *mutex, long until)
{
	struct scheduler *s = ferry__scheduler;
	bool woken;

	if (!s || scheduler_is_inside(s))
		return -EDEADLK;
	if (mutex && mutex->owner != caller(s))
		return -EPERM;
	scheduler_enter(s);
	if (mutex)
		pass_on(s, mutex);
	woken = ferry__waiters_wait(s, &condition->waiters, until);
	scheduler_exit(s);
	if (mutex)
		ferry_mutex_lock(mutex);
	return woken ? 0 : -ETIMEDOUT;
}

int ferry_condition_wait(struct ferry_condition *condition, struct ferry_mutex *mutex)
{
	return wait_until(condition, mutex, NO_LIMIT);
}

int ferry_condition_wait_for(struct ferry_condition *condition, struct ferry_mutex *mutex, long ns)
{
	return wait_until(condition, mutex, ferry__time_after(ns));
}

static int wake(struct ferry_condition *condition, bool all)
{
	struct scheduler *s = ferry__scheduler;

	if (!s)
		return 0; /* nobody can wait */
	if (scheduler_is_inside(s))
		return -EBUSY;
	scheduler_enter(s);
	while (ferry__waiters_wake(s, &condition->waiters) && all)
		;
	scheduler_exit(s);
	return 0;
}

int ferry_condition_signal(struct ferry_condition *condition)
{
	return wake(condition, false);
}

int ferry_condition_broadcast(struct ferry_condition *condition)
{
	return wake(condition, true);
}

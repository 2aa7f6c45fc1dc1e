// SPDX-License-Identifier: MIT
#include "watcher.h"

#include <signal.h>

#include "event.h"
#include "flexsc.h"
#include "futex.h"

#define LOOK_NS 1000000L

enum { AWAKE, ASLEEP, STOPPED };

static bool has_waiting_call(const struct ferry_flexsc_set *set)
{
	unsigned int i;

	for (i = 0; i < set->count; i++)
		if (__atomic_load_n(&set->entry[i].status, __ATOMIC_RELAXED) ==
			    FERRY_ENTRY_SUBMITTED &&
		    !entry_is_begun(&set->entry[i]))
			return true;
	return false;
}

/* Whether a call waits; and *STUCK, whether behind one that blocks. */
static bool calls_wait(const struct ferry_flexsc *flexsc, bool *stuck)
{
	unsigned int i, count = __atomic_load_n(&flexsc->count, __ATOMIC_ACQUIRE);
	bool wait = false;

	*stuck = false;
	for (i = 0; i < count; i++) {
		if (!has_waiting_call(flexsc->runner[i]->set))
			continue;
		wait = true;
		*stuck |= ferry__runner_is_blocked(flexsc->runner[i]);
	}
	return wait;
}

/* Rouse: store SUBMITTED, fence, load state.  Here: store state, fence, load SUBMITTED. */
static void sleep_until_roused(struct ferry_flexsc *flexsc)
{
	unsigned int awake = AWAKE, *state = &flexsc->watcher.state;
	bool stuck;

	if (!__atomic_compare_exchange_n(state, &awake, ASLEEP, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!calls_wait(flexsc, &stuck))
		ferry__futex_wait(state, ASLEEP, NO_TIMEOUT);
	awake = ASLEEP;
	__atomic_compare_exchange_n(state, &awake, AWAKE, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static void *watch(void *argument)
{
	struct ferry_flexsc *flexsc = argument;
	bool stuck;

	while (__atomic_load_n(&flexsc->watcher.state, __ATOMIC_RELAXED) != STOPPED) {
		ferry__futex_wait(&flexsc->watcher.state, AWAKE, LOOK_NS);
		if (!calls_wait(flexsc, &stuck))
			sleep_until_roused(flexsc);
		else if (stuck)
			ferry__event_signal(flexsc->eventfd);
	}
	return NULL;
}

int ferry__watcher_start(struct ferry_flexsc *flexsc)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&flexsc->watcher.thread, NULL, watch, flexsc);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!error)
		pthread_setname_np(flexsc->watcher.thread, "ferry-watcher");
	return -error;
}

void ferry__watcher_stop(struct ferry_flexsc *flexsc)
{
	__atomic_store_n(&flexsc->watcher.state, STOPPED, __ATOMIC_SEQ_CST);
	ferry__futex_wake_all(&flexsc->watcher.state);
	pthread_join(flexsc->watcher.thread, NULL);
}

void ferry__watcher_rouse(struct ferry_flexsc *flexsc)
{
	unsigned int asleep = ASLEEP;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_compare_exchange_n(&flexsc->watcher.state, &asleep, AWAKE, false,
					__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		ferry__futex_wake_all(&flexsc->watcher.state);
}

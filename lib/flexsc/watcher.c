// SPDX-License-Identifier: MIT
#include "watcher.h"

#include <signal.h>

#include "event.h"
#include "flexsc.h"
#include "futex.h"

#define LOOK_NS 1000000L

enum { AWAKE, ASLEEP, STOPPED };

/* What the calls of a runner need. */
enum need { NOTHING, LOOKS, AN_EVENT };

/*
 * A call that is refused signals nothing, because its poster makes it when it polls.  A call that
 * is begun may still be refused, unless it sleeps.
 */
static enum need need_of(const struct runner *runner)
{
	const struct flexsc_entry *entry = runner->set->entry, *end = entry + runner->set->count;
	bool is_submitted = false, is_behind = false;
	unsigned int status;

	for (; entry < end; entry++) {
		status = __atomic_load_n(&entry->status, __ATOMIC_RELAXED);
		if (status == FLEXSC_ENTRY_REFUSED)
			return AN_EVENT;
		if (status != FLEXSC_ENTRY_SUBMITTED)
			continue;
		is_submitted = true;
		is_behind |= !entry_is_begun(entry);
	}
	if (!is_submitted)
		return NOTHING;
	if (!ferry__runner_is_blocked(runner))
		return LOOKS;
	return is_behind ? AN_EVENT : NOTHING;
}

static enum need greatest_need(const struct ferry_flexsc *flexsc)
{
	unsigned int i, count = __atomic_load_n(&flexsc->count, __ATOMIC_ACQUIRE);
	enum need need, greatest = NOTHING;

	for (i = 0; i < count && greatest < AN_EVENT; i++) {
		need = need_of(flexsc->runner[i]);
		if (need > greatest)
			greatest = need;
	}
	return greatest;
}

/* Rouse: store SUBMITTED, fence, load state.  Here: store state, fence, load SUBMITTED. */
static void sleep_until_roused(struct ferry_flexsc *flexsc)
{
	unsigned int awake = AWAKE, *state = &flexsc->watcher.state;

	if (!__atomic_compare_exchange_n(state, &awake, ASLEEP, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (greatest_need(flexsc) == NOTHING)
		ferry__futex_wait(state, ASLEEP, NO_TIMEOUT);
	awake = ASLEEP;
	__atomic_compare_exchange_n(state, &awake, AWAKE, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

static void *watch(void *argument)
{
	struct ferry_flexsc *flexsc = argument;
	enum need need;

	while (__atomic_load_n(&flexsc->watcher.state, __ATOMIC_RELAXED) != STOPPED) {
		ferry__futex_wait(&flexsc->watcher.state, AWAKE, LOOK_NS);
		need = greatest_need(flexsc);
		if (need == NOTHING)
			sleep_until_roused(flexsc);
		else if (need == AN_EVENT)
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

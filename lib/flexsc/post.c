// SPDX-License-Identifier: MIT
/* Posting single calls and batches. */
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <ferry/rawcall.h>

#include "confinement.h"
#include "direct.h"
#include "event.h"
#include "here.h"
#include "ticket.h"

/* Slots are given to threads in turn; a thread keeps its slot. */
static unsigned int own_slot(const struct ferry_flexsc *flexsc)
{
	static unsigned int threads;
	static _Thread_local unsigned int ordinal;

	if (!ordinal)
		ordinal = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return ordinal % flexsc->slots;
}

static struct flexsc_entry *claim(const struct ferry_flexsc *flexsc, struct runner **runner)
{
	unsigned int first = own_slot(flexsc), i;
	struct flexsc_entry *entry;

	for (i = 0; i < flexsc->slots; i++) {
		*runner = flexsc_slot(flexsc, (first + i) % flexsc->slots);
		entry = ferry__runner_claim(*runner);
		if (entry)
			return entry;
	}
	return NULL;
}

/* Or -1. */
static int eventfd_of(const struct ferry_flexsc *flexsc)
{
	return __atomic_load_n(&flexsc->eventfd, __ATOMIC_ACQUIRE);
}

static long finish_here(struct runner *runner, struct flexsc_entry *entry, long result)
{
	entry->nr = MADE_HERE;
	entry->arg[0] = result;
	__atomic_store_n(&entry->status, FLEXSC_ENTRY_DONE, __ATOMIC_RELEASE);
	return ticket_of(runner, entry);
}

/* Fills in a call that signals EVENTFD, or none if that is -1. */
static int fill_in_call(struct flexsc_entry *entry, int eventfd, long nr, const long args[],
			unsigned int argc)
{
	if (eventfd >= 0)
		return ferry__event_fill(entry, eventfd, nr, args, argc);
	if (argc)
		memcpy(entry->arg, args, argc * sizeof(long));
	entry->nr = (short)nr;
	__atomic_store_n(&entry->argc, (unsigned char)argc, __ATOMIC_RELAXED);
	return 0;
}

/* An event loop may wait for the call if there is an EVENTFD. */
static long submit(struct ferry_flexsc *flexsc, int eventfd, struct runner *runner,
		   struct flexsc_entry *entry)
{
	entry->result = ferry__poster_id();
	ferry__entry_submit(runner->set, entry);
	if (eventfd >= 0)
		ferry__watcher_rouse(flexsc);
	return ticket_of(runner, entry);
}

static long post(struct ferry_flexsc *flexsc, int eventfd, long nr, const long args[],
		 unsigned int argc)
{
	__s64 all[BATCH_MAX_ARGS] = { 0 };
	struct flexsc_entry *entry;
	struct runner *runner;
	long ticket;

	if (nr < SHRT_MIN || nr > SHRT_MAX || argc > BATCH_MAX_ARGS)
		return -EINVAL;
	entry = claim(flexsc, &runner);
	if (!entry)
		return -EAGAIN;
	if (!may_be_posted(nr, ferry__posting_limit(flexsc))) {
		if (argc)
			memcpy(all, args, argc * sizeof(long));
		ticket = finish_here(runner, entry, ferry__call_here(nr, all));
		if (eventfd >= 0)
			ferry__event_signal(eventfd);
		return ticket;
	}
	if (fill_in_call(entry, eventfd, nr, args, argc)) {
		ferry__runner_free(runner, entry);
		return -ENOMEM;
	}
	return submit(flexsc, eventfd, runner, entry);
}

long ferry_flexsc_post(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc)
{
	return post(flexsc, eventfd_of(flexsc), nr, args, argc);
}

long ferry_flexsc_post_batch(struct ferry_flexsc *flexsc, long rets[],
			     const struct batch_slot calls[], unsigned long ncall)
{
	struct flexsc_entry *entry;
	struct runner *runner;

	entry = claim(flexsc, &runner);
	if (!entry)
		return -EAGAIN;
	if (!ferry__batch_may_be_posted(calls, ncall, ferry__posting_limit(flexsc)))
		return finish_here(runner, entry, ferry__batch_here(rets, calls, ncall));
	if (ferry__batch_fill(entry, rets, calls, ncall)) {
		ferry__runner_free(runner, entry);
		return -ENOMEM;
	}
	return submit(flexsc, eventfd_of(flexsc), runner, entry);
}

/* The caller holds the mutex. */
static int open_eventfd(struct ferry_flexsc *flexsc)
{
	int error, fd;

	if (flexsc->eventfd >= 0)
		return flexsc->eventfd;
	fd = (int)ferry_rawcall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK, 0, 0, 0, 0);
	if (fd < 0)
		return fd;
	__atomic_store_n(&flexsc->eventfd, fd, __ATOMIC_RELEASE);
	/* A forked child has no runners to watch, and would not end the thread. */
	error = set_is_wiped(flexsc->runner[0]->set) ? 0 : ferry__watcher_start(flexsc);
	if (error) {
		__atomic_store_n(&flexsc->eventfd, -1, __ATOMIC_RELAXED);
		close(fd);
		return error;
	}
	return fd;
}

int ferry_flexsc_eventfd(struct ferry_flexsc *flexsc)
{
	int fd;

	pthread_mutex_lock(&ferry__flexsc_mutex);
	fd = open_eventfd(flexsc);
	pthread_mutex_unlock(&ferry__flexsc_mutex);
	return fd;
}

long ferry_flexsc_call(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc)
{
	__s64 all[BATCH_MAX_ARGS] = { 0 };
	long ticket;

	if (argc > BATCH_MAX_ARGS)
		return -EINVAL;
	if (may_be_posted(nr, ferry__posting_limit(flexsc))) {
		ticket = post(flexsc, -1, nr, args, argc);
		if (ticket >= 0)
			return ferry_flexsc_wait(flexsc, ticket);
	}
	if (argc)
		memcpy(all, args, argc * sizeof(long));
	return ferry__call_here(nr, all);
}

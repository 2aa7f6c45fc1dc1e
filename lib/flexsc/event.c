// SPDX-License-Identifier: MIT
#include "event.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <ferry/rawcall.h>
#include <ferry_flexsc.h>

/* argc of the entry of a call that signals; that of other batches is 5. */
#define SIGNALS FERRY_MAX_ARGS

/* No call returns it. */
#define NO_RESULT LONG_MIN

/* Belongs to the entry, and moves with it to another runner. */
struct event_call {
	long rets[2];
	struct ferry_slot calls[2];
};

static const __u64 one = 1;

static struct event_call *call_of(const struct ferry_entry *entry)
{
	unsigned char argc = __atomic_load_n(&entry->argc, __ATOMIC_RELAXED);

	if (entry->nr != FERRY_NR_BATCH || (argc & ~FERRY_ARGC_WAITED) != SIGNALS)
		return NULL;
	return (struct event_call *)entry->arg[0];
}

void ferry__event_signal(int eventfd)
{
	ferry_rawcall(SYS_write, eventfd, (long)&one, sizeof(one), 0, 0, 0);
}

int ferry__event_fill(struct ferry_entry *entry, int eventfd, long nr, const long args[],
		      unsigned int argc)
{
	struct event_call *call = malloc(sizeof(*call));

	if (!call)
		return -ENOMEM;
	*call = (struct event_call){
		.rets = { NO_RESULT },
		.calls = { { .nr = (short)nr, .argc = (unsigned char)argc },
			   { .nr = SYS_write,
			     .argc = 3,
			     .arg = { eventfd, (long)&one, sizeof(one) } } },
	};
	if (argc)
		memcpy(call->calls[0].arg, args, argc * sizeof(long));
	entry->nr = FERRY_NR_BATCH;
	__atomic_store_n(&entry->argc, SIGNALS, __ATOMIC_RELAXED);
	entry->arg[0] = (long)call->rets;
	entry->arg[1] = (long)call->calls;
	entry->arg[2] = 2;
	entry->arg[3] = entry->arg[4] = 0;
	return 0;
}

/* A runner may store this word meanwhile.  A thread that has seen the event sees it. */
__attribute__((__no_sanitize__("thread"))) bool
ferry__event_has_result(const struct ferry_entry *entry)
{
	const struct event_call *call = call_of(entry);

	return call && *(const volatile long *)&call->rets[0] != NO_RESULT;
}

long ferry__event_collect(const struct ferry_entry *entry, long result)
{
	struct event_call *call = call_of(entry);

	if (!call)
		return result;
	if (call->rets[0] != NO_RESULT) /* else it was not made, and RESULT says why */
		result = call->rets[0];
	free(call);
	return result;
}

void ferry__event_drop_all(const struct ferry_flexsc_set *set)
{
	unsigned int i;

	for (i = 0; i < set->count; i++)
		if (set->entry[i].status != FERRY_ENTRY_FREE)
			free(call_of(&set->entry[i]));
}

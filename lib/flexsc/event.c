// SPDX-License-Identifier: MIT
#include "event.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <ferry/batchcall.h>
#include <ferry_flexsc.h>

/* argc of the entry of a call that signals; that of other batches is 2. */
#define SIGNALS BATCH_MAX_ARGS

/* No call returns it. */
#define NO_RESULT LONG_MIN

/* A batch belongs to its entry, and moves with it to another runner. */
struct event_call {
	struct batch_args args; /* the first of any batch */
	long rets[2];
	struct batch_slot calls[2];
};

static const __u64 one = 1;

static struct batch_args *batch_of(const struct flexsc_entry *entry)
{
	return entry->nr == FERRY_NR_BATCH ? (struct batch_args *)entry->arg[0] : NULL;
}

static struct event_call *call_of(const struct flexsc_entry *entry)
{
	unsigned char argc = __atomic_load_n(&entry->argc, __ATOMIC_RELAXED);

	if (entry->nr != FERRY_NR_BATCH || (argc & ~FLEXSC_ARGC_WAITED) != SIGNALS)
		return NULL;
	return (struct event_call *)entry->arg[0];
}

void ferry__event_signal(int eventfd)
{
	ferry_rawcall(SYS_write, eventfd, (long)&one, sizeof(one), 0, 0, 0);
}

static void fill(struct flexsc_entry *entry, struct batch_args *args, unsigned char argc)
{
	entry->nr = FERRY_NR_BATCH;
	__atomic_store_n(&entry->argc, argc, __ATOMIC_RELAXED);
	entry->arg[0] = (long)args;
	entry->arg[1] = sizeof(*args);
}

int ferry__batch_fill(struct flexsc_entry *entry, long rets[], const struct batch_slot calls[],
		      unsigned long ncall)
{
	struct batch_args *args = malloc(sizeof(*args));

	if (!args)
		return -ENOMEM;
	fill(entry, args, 2);
	ferry_batch_begin(args, rets, calls, ncall);
	return 0;
}

int ferry__event_fill(struct flexsc_entry *entry, int eventfd, long nr, const long args[],
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
	fill(entry, &call->args, SIGNALS);
	ferry_batch_begin(&call->args, call->rets, call->calls, 2);
	return 0;
}

/* A runner may store this word meanwhile.  A thread that has seen the event sees it. */
__attribute__((__no_sanitize__("thread"))) bool
ferry__event_has_result(const struct flexsc_entry *entry)
{
	const struct event_call *call = call_of(entry);

	return call && *(const volatile long *)&call->rets[0] != NO_RESULT;
}

long ferry__event_collect(const struct flexsc_entry *entry, long result)
{
	const struct event_call *call = call_of(entry);

	if (call && call->rets[0] != NO_RESULT) /* else it was not made, and RESULT says why */
		result = call->rets[0];
	free(batch_of(entry));
	return result;
}

void ferry__event_drop_all(const struct flexsc_set *set)
{
	unsigned int i;

	for (i = 0; i < set->count; i++)
		if (set->entry[i].status != FLEXSC_ENTRY_FREE)
			free(batch_of(&set->entry[i]));
}

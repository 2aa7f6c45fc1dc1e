// SPDX-License-Identifier: MIT
/* Finding runs.  It only reads slots, so it may be wrong about slots that change later. */
#include "uring_plan.h"

#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include <ferry/loop.h>

/* What a slot's descriptor is: a number, or the result of a slot. */
struct descriptor {
	bool forwarded;
	long value; /* the number, or the index of the slot */
};

/* A call that may put a seccomp filter on the thread. */
static bool may_confine(long nr)
{
	return nr == SYS_seccomp || nr == SYS_prctl;
}

/* The first word of SLOT: its number and its jumps. */
static unsigned long head_of(const struct ferry_slot *slot)
{
	unsigned long head;

	memcpy(&head, slot, sizeof(head));
	return head;
}

static bool forwards(const struct ferry_slot *slot)
{
	return slot->argc & FERRY_ARGC_FORWARD;
}

static struct descriptor descriptor_of(const struct ferry_slot *slot, unsigned long index)
{
	if (forwards(slot) && slot->from[0])
		return (struct descriptor){ true, (long)index - slot->from[0] };
	return (struct descriptor){ false, (int)slot->arg[0] };
}

/* Whether slot INDEX is well formed and takes no operand from slot FIRST or later. */
static bool operands_known(const struct ferry_slot *slot, unsigned long index, unsigned long first)
{
	int k;

	if (slot->argc <= FERRY_MAX_ARGS)
		return true;
	if (!forwards(slot) || (slot->argc & ~FERRY_ARGC_FORWARD) > FERRY_MAX_ARGS ||
	    slot->reserved)
		return false;
	for (k = 0; k < FERRY_MAX_ARGS; k++) {
		unsigned long d = slot->from[k];

		if (d && (d > index || index - d >= first))
			return false;
	}
	return true;
}

/* Whether slot INDEX can be in the run of slot FIRST, which has descriptor FD. */
static bool belongs(const struct ferry_slot calls[], unsigned long index, unsigned long first,
		    struct descriptor fd)
{
	struct descriptor own = descriptor_of(&calls[index], index);

	return calls[index].nr == calls[first].nr && operands_known(&calls[index], index, first) &&
	       own.forwarded == fd.forwarded && own.value == fd.value;
}

/* A quick belongs() for the common case: SLOT differs from the first only in its buffer. */
static bool is_alike(const struct ferry_slot *slot, const struct ferry_slot *first,
		     unsigned long head)
{
	return head_of(slot) == head && slot->argc <= FERRY_MAX_ARGS &&
	       (int)slot->arg[0] == (int)first->arg[0];
}

/* The length of the run that starts at slot FIRST, a read or write. */
static unsigned long run_length(const struct ferry_slot calls[], unsigned long first,
				unsigned long end)
{
	const struct ferry_slot *start = &calls[first];
	struct descriptor fd = descriptor_of(start, first);
	unsigned long head = head_of(start);
	unsigned long i = first + 1;

	if (ferry_head_jumps(head) || !belongs(calls, first, first, fd))
		return 1;
	if (end - first > URING_MAX_RUN)
		end = first + URING_MAX_RUN;
	if (!fd.forwarded)
		while (i < end && is_alike(&calls[i], start, head))
			i++;
	for (; i < end && belongs(calls, i, first, fd); i++)
		if (head_of(&calls[i]) != head)
			return i + 1 - first;
	return i - first;
}

/* The calls that matter to the plan; it skips all others. */
static bool is_noteworthy(short nr)
{
	static const bool noteworthy[FERRY_BLOCKED_LIMIT] = {
		[SYS_read] = true,     [SYS_write] = true, [SYS_pread64] = true,
		[SYS_pwrite64] = true, [SYS_prctl] = true, [SYS_seccomp] = true,
	};

	return (unsigned short)nr < FERRY_BLOCKED_LIMIT && noteworthy[nr];
}

struct uring_run ferry__uring_plan_next(const struct ferry_slot calls[], unsigned long first,
					unsigned long end)
{
	struct uring_run run = { .first = first };

	while (run.first < end) {
		unsigned long length;

		if (!is_noteworthy(calls[run.first].nr)) {
			run.first++;
			continue;
		}
		if (may_confine(calls[run.first].nr)) {
			run.confines = true;
			return run;
		}
		length = run_length(calls, run.first, end);
		if (length >= URING_MIN_RUN) {
			run.length = length;
			return run;
		}
		run.first += length;
	}
	return run;
}

/* SPDX-License-Identifier: MIT */
/* Which calls may be given to a runner, and making those that may not. */
#ifndef FLEXSC_DIRECT_H
#define FLEXSC_DIRECT_H

#include <limits.h>
#include <stdbool.h>

#include <ferry/loop.h>

/* Who may make a call. */
enum who {
	ANY_RUNNER,
	ALIKE_RUNNER, /* a runner that may do exactly what the caller may do */
	CALLER_ONLY,  /* also calls that no batch makes */
};

/* An enum who for each number.  Constant once main() runs. */
extern unsigned char ferry__who[FERRY_BLOCKED_LIMIT];

/* A limit below all of enum who: nothing may be posted. */
#define POST_NOTHING (-1)

/** Whether a runner may make call NR; LIMIT is ANY_RUNNER, ALIKE_RUNNER or negative. */
static inline bool may_be_posted(long nr, int limit)
{
	if (FERRY_LIKELY((unsigned long)nr < FERRY_BLOCKED_LIMIT))
		return ferry__who[nr] <= limit;
	return false; /* it exists in no kernel */
}

/** Whether a call that is CALLER_ONLY depends on the caller with these arguments. */
bool ferry__depends_on_caller(long nr, const __s64 arg[]);

/** Whether a runner may make all calls of a batch. */
bool ferry__batch_may_be_posted(const struct ferry_slot calls[], unsigned long ncall, int limit);

/** Makes call NR in the calling thread: -ENOSYS for one that no batch makes. */
static inline long call_here(long nr, const __s64 arg[])
{
	if (nr < 0 || nr > SHRT_MAX)
		return -ENOSYS;
	return ferry_loop_call((unsigned short)nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

#endif /* FLEXSC_DIRECT_H */

/* SPDX-License-Identifier: MIT */
/* Which calls may be given to a runner, and making those that may not. */
#ifndef FLEXSC_DIRECT_H
#define FLEXSC_DIRECT_H

#include <limits.h>
#include <stdbool.h>

#include <ferry/loop.h>

/* 1 for a call that is direct or blocked.  Constant once main() runs. */
extern unsigned char ferry__not_posted[FERRY_BLOCKED_LIMIT];

/** Whether another thread than the caller may make call NR. */
static inline bool may_be_posted(long nr)
{
	if (FERRY_LIKELY((unsigned long)nr < FERRY_BLOCKED_LIMIT))
		return !ferry__not_posted[nr];
	return false; /* it exists in no kernel */
}

/** Whether a runner may make all calls of a batch. */
bool ferry__batch_may_be_posted(const struct ferry_slot calls[], unsigned long ncall);

/** Makes call NR in the calling thread: -ENOSYS for one that no batch makes. */
static inline long call_here(long nr, const __s64 arg[])
{
	if (nr < 0 || nr > SHRT_MAX)
		return -ENOSYS;
	return ferry_loop_call((unsigned short)nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

#endif /* FLEXSC_DIRECT_H */

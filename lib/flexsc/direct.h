/* SPDX-License-Identifier: MIT */
/* Which calls may be given to a runner. */
#ifndef FLEXSC_DIRECT_H
#define FLEXSC_DIRECT_H

#include <stdbool.h>

#include <ferry/loop.h>

/* Who may make a call. */
enum who {
	NEVER_WAITS, /* any runner, and the call does not wait for anything */
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

/** Whether call NR, if it succeeds, changes what the calling thread may do; prctl() and keyctl()
 * may. */
bool ferry__changes_rights(long nr);

/** Whether a runner may make all calls of a batch. */
bool ferry__batch_may_be_posted(const struct ferry_slot calls[], unsigned long ncall, int limit);

#endif /* FLEXSC_DIRECT_H */

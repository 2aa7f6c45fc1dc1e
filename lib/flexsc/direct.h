/* SPDX-License-Identifier: MIT */
/* Which calls may be given to a runner. */
#ifndef FLEXSC_DIRECT_H
#define FLEXSC_DIRECT_H

#include <stdbool.h>

#include <ferry/loop.h>

#include "calls/calls.h"

/* A limit below all of enum call_who: nothing may be posted. */
#define POST_NOTHING (-1)

/** Whether a runner may make call NR; LIMIT is ANY_RUNNER, ALIKE_RUNNER or negative. */
static inline bool may_be_posted(long nr, int limit)
{
	if (FERRY_LIKELY((unsigned long)nr < SUBCALL_NR_LIMIT))
		return ferry__calls[nr].who <= limit;
	return false; /* it exists in no kernel */
}

/** Whether a runner may make all calls of a batch. */
bool ferry__batch_may_be_posted(const struct batch_slot calls[], unsigned long ncall, int limit);

#endif /* FLEXSC_DIRECT_H */

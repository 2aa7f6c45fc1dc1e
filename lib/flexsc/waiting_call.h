/* SPDX-License-Identifier: MIT */
/*
 * User-level threads' calls that concern descriptors: those that may wait for one are made in a
 * form that does not, and their thread waits in the poller; and those after which what is known
 * of a descriptor is no longer true.
 */
#ifndef FLEXSC_WAITING_CALL_H
#define FLEXSC_WAITING_CALL_H

#include <ferry/loop.h>

#include "direct.h"
#include "scheduler.h"

/* How ferry_thread_call() treats a call: an enum call_who up to CALLER_ONLY, or one of these. */
enum way {
	WAITS_FOR_FD = CALLER_ONLY + 1, /* arg[0]; as any other call if that is PLAIN */
	CONNECTS,			/* the same, but only a runner that is alike may make it */
	WAITS_FOR_FDS,
	CHANGES_FDS,
};

/* An enum way for each number.  Constant once a flexsc has started. */
extern unsigned char ferry__way[FERRY_BLOCKED_LIMIT];

/** Fills it in. */
void ferry__fill_in_ways(void);

static inline unsigned char way_of(long nr)
{
	return FERRY_LIKELY((unsigned long)nr < FERRY_BLOCKED_LIMIT) ? ferry__way[nr] : CALLER_ONLY;
}

/** Makes a call whose way is one of the above. */
long ferry__waiting_call(struct scheduler *s, long nr, const __s64 arg[]);

#endif /* FLEXSC_WAITING_CALL_H */

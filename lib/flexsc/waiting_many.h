/* SPDX-License-Identifier: MIT */
/* Calls that may wait for several descriptors; and how a thread waits for any. */
#ifndef FLEXSC_WAITING_MANY_H
#define FLEXSC_WAITING_MANY_H

#include <poll.h>
#include <time.h>

#include "scheduler.h"

/** poll(2) without waiting. */
long ferry__poll_now(const struct pollfd *fds, unsigned long count);

/**
 * Waits as struct wait describes, until UNTIL (ns of clock_ns()) at most.  Returns 0 after an
 * event, -ETIMEDOUT, or another error of the wait.
 */
long ferry__wait_for_events(struct scheduler *s, struct interest interests[], unsigned int count,
			    bool takes, long until);

/** Whether the caller's LIMIT can be read and is one, or is NULL. */
bool ferry__is_limit(const struct timespec *limit);

/** The time (ns of clock_ns()) when LIMIT is over; LONG_MAX if it is NULL. */
long ferry__until_limit(const struct timespec *limit);

/** How long it is until UNTIL. */
struct timespec ferry__rest_until(long until);

/** Stores that in the caller's LIMIT, if it is not NULL and not constant. */
void ferry__store_rest(struct timespec *limit, long until);

/** Whether the error of a wait means that only a call that waits can wait for the descriptor. */
bool ferry__cannot_be_polled(long error);

/** Makes a call whose way is WAITS_FOR_FDS. */
long ferry__wait_for_many(struct scheduler *s, long nr, const __s64 arg[]);

#endif /* FLEXSC_WAITING_MANY_H */

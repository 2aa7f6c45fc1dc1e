/* SPDX-License-Identifier: MIT */
/* Calls that may wait for several descriptors; and how a thread waits for any. */
#ifndef FLEXSC_WAITING_MANY_H
#define FLEXSC_WAITING_MANY_H

#include <poll.h>

#include "scheduler.h"

/** poll(2) without waiting. */
long ferry__poll_now(const struct pollfd *fds, unsigned long count);

/**
 * Waits as struct wait describes, until UNTIL (ns of clock_ns()) at most.  Returns 0 after an
 * event, -ETIMEDOUT, or another error of the wait.
 */
long ferry__wait_for_events(struct scheduler *s, struct interest interests[], unsigned int count,
			    bool takes, long until);

/** Whether the error of a wait means that only a call that waits can wait for the descriptor. */
bool ferry__cannot_be_polled(long error);

/** Makes a call whose way is WAITS_FOR_FDS. */
long ferry__wait_for_many(struct scheduler *s, long nr, const __s64 arg[]);

#endif /* FLEXSC_WAITING_MANY_H */

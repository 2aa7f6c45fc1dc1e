/* SPDX-License-Identifier: MIT */
/* What a scheduler does while none of its threads can run. */
#ifndef FLEXSC_IDLE_H
#define FLEXSC_IDLE_H

struct scheduler;

/**
 * Waits for a call to be done, awake at first and then asleep, and does what is due meanwhile.
 * Returns the time at which it had slept (ns of clock_ns()), or 0 if it did not sleep.
 */
long ferry__idle(struct scheduler *scheduler);

/**
 * Makes threads ready whose time has come at NOW (ns) or whose call is done, and moves calls away
 * from blocked runners.
 */
void ferry__look_around(struct scheduler *scheduler, long now);

#endif /* FLEXSC_IDLE_H */

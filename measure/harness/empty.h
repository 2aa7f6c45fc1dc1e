/* SPDX-License-Identifier: MIT */
/* Calls that do nothing: functions that cannot be inlined, and a system call. */
#ifndef EMPTY_H
#define EMPTY_H

#include <linux/ferry.h>

/*
 * A call that no kernel has, so that it is a crossing and nothing else: above every number in use,
 * before x32's, and one of those that ferry trace counts by themselves.
 */
#define UNIMPLEMENTED 511

void empty_function(void);

/** Takes what a system call takes, and returns 0. */
long empty_call(long nr, long a, long b, long c, long d, long e, long f);

/** The loop of <ferry/loop.h> with empty_call() in place of the system call. */
long empty_loop(long rets[], const struct batch_slot calls[], unsigned long ncall);

#endif /* EMPTY_H */

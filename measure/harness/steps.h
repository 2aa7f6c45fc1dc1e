/* SPDX-License-Identifier: MIT */
/* Instructions, counted one by one: exact and repeatable, where ptrace(2) may step a child. */
#ifndef STEPS_H
#define STEPS_H

#include <stddef.h>

/**
 * The instructions in user space that RUN takes for each call: the slope between two numbers of
 * calls, so that start and end cancel out.  NAN where nothing can be counted.
 */
double instructions_per_call(void (*run)(unsigned long calls));

#define MOST_WINDOWS 11

/**
 * The instructions in user space from one increment of *COUNT to the next, in RUN, which increments
 * it until it is killed: the median of so many WINDOWS.  In between RUN goes at full speed, so that
 * what depends on time behaves as usual.  NAN where nothing can be counted, or once interrupted().
 */
double instructions_between(void (*run)(volatile long *count), size_t windows);

#endif /* STEPS_H */

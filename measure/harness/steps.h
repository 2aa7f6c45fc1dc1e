/* SPDX-License-Identifier: MIT */
/* Instructions, counted one by one: exact and repeatable, where ptrace(2) may step a child. */
#ifndef STEPS_H
#define STEPS_H

/**
 * The instructions in user space that RUN takes for each call: the slope between two numbers of
 * calls, so that start and end cancel out.  NAN where that cannot be found out.
 */
double instructions_per_call(void (*run)(unsigned long calls));

#endif /* STEPS_H */

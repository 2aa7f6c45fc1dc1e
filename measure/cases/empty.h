/* SPDX-License-Identifier: MIT */
/* Functions that do nothing, where the compiler of their callers cannot see it. */
#ifndef EMPTY_H
#define EMPTY_H

void empty_function(void);

/** Takes what a system call takes, and returns 0. */
long empty_call(long nr, long a, long b, long c, long d, long e, long f);

#endif /* EMPTY_H */

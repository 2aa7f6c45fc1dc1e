/* SPDX-License-Identifier: MIT */
/* Whether somebody must see each system call of the calling thread by itself. */
#ifndef WATCHED_H
#define WATCHED_H

#include <stdbool.h>

/* What a thread found when it last looked for a tracer: looking takes microseconds. */
struct tracer_check {
	long when; /* CLOCK_MONOTONIC, ns; 0: never */
	bool traced;
};

/*
 * True when the thread has a seccomp filter, which io_uring would pass by, or a
 * tracer, which would not see its requests.  The filter is looked for every time.  A
 * tracer is looked for from time to time, and whenever it may be what makes a
 * call slow: one that follows calls stops the thread at each.
 */
bool ferry__thread_is_watched(struct tracer_check *last);

#endif /* WATCHED_H */

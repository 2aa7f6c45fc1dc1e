/* SPDX-License-Identifier: MIT */
/* Whether somebody must see each system call of the calling thread by itself. */
#ifndef WATCHED_H
#define WATCHED_H

#include <stdbool.h>
#include <time.h>

/* When a thread last looked for a tracer: looking takes microseconds. */
struct tracer_check {
	time_t second; /* CLOCK_MONOTONIC_COARSE */
	long tick;     /* of TRACER_CHECK_NS, within that second */
	bool traced;
};

/*
 * True when the thread has a seccomp filter, which io_uring would pass by, or a
 * tracer, which would not see its requests.  The filter is looked for every time;
 * the tracer, at most once in TRACER_CHECK_NS.
 */
bool thread_is_watched(struct tracer_check *last);

#endif /* WATCHED_H */

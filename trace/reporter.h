/* SPDX-License-Identifier: MIT */
/*
 * Reports while tracing goes on: a child of this process concludes and prints, from the memory of
 * the moment, and this process traces on.
 */
#ifndef TRACE_REPORTER_H
#define TRACE_REPORTER_H

#include <sys/types.h>

/** As fork(2); or -EAGAIN while the last report is not out. */
pid_t reporter_fork(void);

/** Waits until the last report is out. */
void reporter_wait(void);

#endif /* TRACE_REPORTER_H */

/* SPDX-License-Identifier: MIT */
/* What happens to the threads that run batches. */
#ifndef WEATHER_H
#define WEATHER_H

#include <stdbool.h>
#include <sys/types.h>

#include "tests/lib/differential/random.h"

#define RESTARTING SIGUSR1 /* its handler has SA_RESTART */
#define BREAKING SIGUSR2   /* its handler has not */

/* ---- from within the process ---- */

/* Handlers for the signals above, and for a filter's SIGSYS.  Inherited by threads. */
void weather_prepare(void);

/* From here on the process ignores the signals, even when it executes another program. */
void weather_ignore(void);

/* A timer that sends the process one of these signals again and again. */
void weather_start_timer(struct random *random);

/* A seccomp filter that answers getppid() with ACTION; FLAGS are of seccomp(). */
void weather_filter(unsigned int action, unsigned int flags);

/* One disturbance of the calling process, whose threads are TIDS. */
void weather_within(struct random *random, const pid_t tids[], int count, int *filters);

/* ---- from outside ---- */

/* A control group that processes can be frozen in; none on a system without them. */
void weather_make_cgroup(void);
void weather_enter_cgroup(void);
void weather_remove_cgroup(void);

/* One disturbance of PID, whose threads are TIDS.  It goes on running afterwards. */
void weather_outside(struct random *random, pid_t pid, const pid_t tids[], int count);

/** Detaches thread TID, which is traced and has stopped with STATUS. */
void weather_let_go(pid_t tid, int status);

#endif /* WEATHER_H */

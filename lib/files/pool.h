/* SPDX-License-Identifier: MIT */
/* Threads that are kept between calls. */
#ifndef FILES_POOL_H
#define FILES_POOL_H

#include <stdbool.h>

/**
 * Runs WORK(ARGUMENT) in a thread of the pool, made if none is idle, and then DONE(ARGUMENT) unless
 * that is NULL.  By the time DONE is called the thread can be taken again, so that a thread which
 * DONE wakes finds it; DONE must not wait, or use the pool.  Returns false when no thread can be
 * started.  In both, signals are blocked, except for SIGSEGV and others that
 * a thread causes by what it does.
 */
bool ferry__pool_run(void (*work)(void *argument), void (*done)(void *argument), void *argument);

#endif /* FILES_POOL_H */

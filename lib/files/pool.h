/* SPDX-License-Identifier: MIT */
/* Threads that are kept between calls. */
#ifndef FILES_POOL_H
#define FILES_POOL_H

#include <stdbool.h>

/**
 * Runs WORK(ARGUMENT) in a thread of the pool, made if none is idle.  Returns false when there can
 * be no thread.  All signals are blocked in WORK.
 */
bool ferry__pool_run(void (*work)(void *argument), void *argument);

#endif /* FILES_POOL_H */

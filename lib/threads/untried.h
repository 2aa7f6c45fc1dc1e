/* SPDX-License-Identifier: MIT */
/* Threads that were never carried: whether carriers are worth it shows by their waits. */
#ifndef THREADS_UNTRIED_H
#define THREADS_UNTRIED_H

#include "thread.h"

/* Counts a call that may wait.  True: libc makes it, as the thread has not waited often yet. */
bool untried_call(void);

/* Counts a wait.  Whether the thread is worth carrying from now on; it may be native for good. */
bool untried_wait(void);

static inline bool is_early(void)
{
	return is_untried(&ferry_self) && untried_call();
}

#endif /* THREADS_UNTRIED_H */

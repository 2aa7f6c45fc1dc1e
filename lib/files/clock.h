/* SPDX-License-Identifier: MIT */
/* Times in ns, and conditions that are waited for up to a time. */
#ifndef FILES_CLOCK_H
#define FILES_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_SEC (1000 * NSEC_PER_MSEC)

/** What CLOCK says. */
long ferry__time_of(clockid_t clock);

/** What CLOCK_MONOTONIC says. */
static inline long ferry__now(void)
{
	return ferry__time_of(CLOCK_MONOTONIC);
}

/** Prepares CONDITION for ferry__wait_until(). */
void ferry__condition_init(pthread_cond_t *condition);

/** Waits for CONDITION, at the latest until TIME of ferry__now().  Returns false if that has come.
 */
bool ferry__wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, long time);

#endif /* FILES_CLOCK_H */

// SPDX-License-Identifier: MIT
#include "clock.h"

#include <errno.h>

long ferry__time_of(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * NSEC_PER_SEC + time.tv_nsec;
}

void ferry__condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

bool ferry__wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, long time)
{
	const struct timespec until = { time / NSEC_PER_SEC, time % NSEC_PER_SEC };

	return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}

// SPDX-License-Identifier: MIT
#include "ticket.h"

#include <unistd.h>

static _Thread_local pid_t cached_id;

static void forget_id(void)
{
	cached_id = 0;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_id);
}

/* Only the first use makes a system call. */
pid_t ferry__poster_id(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (FERRY_UNLIKELY(!cached_id)) {
		pthread_once(&once, watch_forks);
		cached_id = gettid();
	}
	return cached_id;
}

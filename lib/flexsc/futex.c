// SPDX-License-Identifier: MIT
#include "futex.h"

#include <limits.h>
#include <linux/futex.h>

#include <ferry/rawcall.h>

#include "spin.h"

void ferry__futex_wait(unsigned int *word, unsigned int value, long timeout_ns)
{
	struct timespec timeout = timespec_of(timeout_ns);

	ferry_rawcall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value,
		      timeout_ns == NO_TIMEOUT ? 0 : (long)&timeout, 0, 0);
}

void ferry__futex_wake_all(unsigned int *word)
{
	ferry_rawcall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

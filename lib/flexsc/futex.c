// SPDX-License-Identifier: MIT
#include "futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>

#include <ferry/rawcall.h>

#include "spin.h"

#ifndef SYS_futex_waitv /* musl before 1.2.4 */
#define SYS_futex_waitv 449
#endif

void ferry__futex_wait(unsigned int *word, unsigned int value, long timeout_ns)
{
	struct timespec timeout = timespec_of(timeout_ns);

	ferry_rawcall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value,
		      timeout_ns == NO_TIMEOUT ? 0 : (long)&timeout, 0, 0);
}

/* Without futex_waitv (Linux 5.16), sleep on the first word only and look at the others this often.
 */
#define NO_WAITV_NS 1000000L

void ferry__futex_wait_any(unsigned int *const words[], unsigned int count, unsigned int value,
			   long timeout_ns)
{
	struct futex_waitv waiters[MAX_WAITED] = { 0 };
	long end_ns = clock_ns() + timeout_ns;
	struct timespec end = timespec_of(end_ns);
	unsigned int i;

	if (count == 1) {
		ferry__futex_wait(words[0], value, timeout_ns);
		return;
	}
	for (i = 0; i < count; i++)
		waiters[i] = (struct futex_waitv){
			.val = value,
			.uaddr = (unsigned long)words[i],
			.flags = FUTEX_32 | FUTEX_PRIVATE_FLAG,
		};
	if (ferry_rawcall(SYS_futex_waitv, (long)waiters, count, 0,
			  timeout_ns == NO_TIMEOUT ? 0 : (long)&end, CLOCK_MONOTONIC, 0) != -ENOSYS)
		return;
	if (timeout_ns == NO_TIMEOUT || timeout_ns > NO_WAITV_NS)
		timeout_ns = NO_WAITV_NS;
	ferry__futex_wait(words[0], value, timeout_ns);
}

void ferry__futex_wake_all(unsigned int *word)
{
	ferry_rawcall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

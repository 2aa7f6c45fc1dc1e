// SPDX-License-Identifier: GPL-2.0
/* flexsc as system calls. */
#include <linux/syscalls.h>

#include "flexsc.h"
#include "syscall.h"

SYSCALL_DEFINE2(flexsc_register, struct ferry_flexsc_set __user *, set, size_t, size)
{
	if (!set && !size)
		return FERRY_FLEXSC_ANSWER;
	return ferry_flexsc_check(set, size);
}

SYSCALL_DEFINE1(flexsc_serve, struct ferry_flexsc_set __user *, set)
{
	/* The address of a set is aligned. */
	const unsigned long bit = (unsigned long)set & FERRY_SERVE_EINTR;
	struct ferry_outer_call call __uninitialized;
	long answer;

	set = (void __user *)((unsigned long)set & ~FERRY_SERVE_EINTR);
	ferry_outer_begin(&call);
	answer = ferry_flexsc_serve(&call.caller, set, bit);
	/* A filter installed since the call began may not allow it again. */
	if (ferry_is_restart(answer) && ferry_filters_changed(&call))
		answer = -EOPNOTSUPP;
	call.arg[0] &= ~FERRY_SERVE_EINTR;
	ferry_outer_end(&call);
	return answer;
}

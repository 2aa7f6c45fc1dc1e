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
	struct ferry_outer_call call;

	ferry_outer_begin(&call);
	return ferry_outer_end(&call, ferry_flexsc_serve(&call.caller, set));
}

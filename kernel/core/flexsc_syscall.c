// SPDX-License-Identifier: GPL-2.0
/* flexsc as system calls. */
#include <linux/syscalls.h>

#include "flexsc.h"

SYSCALL_DEFINE2(flexsc_register, struct flexsc_set __user *, set, size_t, size)
{
	if (!set && !size)
		return FLEXSC_ANSWER;
	return flexsc_check_set(set, size);
}

SYSCALL_DEFINE1(flexsc_serve, struct flexsc_set __user *, set)
{
	struct outer_call call __uninitialized;
	long answer;

	outer_call_begin(&call, false);
	answer = flexsc_serve_set(&call.caller, set);
	outer_call_end(&call);
	return answer;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * batch() under the number of sys_batch (c-blake/batch).  Its callers pass any flags and size,
 * so the position is in the upper half of ncall.
 */
#include <linux/compat.h>
#include <linux/syscalls.h>

#include "syscall.h"

SYSCALL_DEFINE3(afs_syscall, long __user *, rets, const struct ferry_slot __user *, calls,
		unsigned long, ncall)
{
	struct ferry_outer_call call __uninitialized;
	long answer;

	/* x32 shares this table entry, but its calls differ. */
	if (in_compat_syscall())
		return -ENOSYS;
	answer = ferry_outer_batch(&call, (s64 __user *)rets, calls, lower_32_bits(ncall),
				   upper_32_bits(ncall), 0, FERRY_ALIAS_POSITIONS);
	call.arg[2] = lower_32_bits(ncall);
	if (ferry_is_restart(answer))
		call.arg[2] |= call.caller.position << FERRY_ALIAS_SHIFT;
	ferry_outer_end(&call);
	return answer;
}

// SPDX-License-Identifier: GPL-2.0
/* @NAME@(): for how long the system has been up. */
#include <linux/syscalls.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

SYSCALL_DEFINE2(@NAME@, u64 __user *, uptime, unsigned int, flags)
{
	/* A kernel that ignores a flag can never give it a meaning later. */
	if (flags)
		return -EINVAL;

	return put_user(ktime_get_boottime_ns(), uptime);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * batch() under the number of the original.  Its callers may pass anything as
 * flags and size.
 */
#include <linux/compat.h>
#include <linux/syscalls.h>

#include "syscall.h"

SYSCALL_DEFINE3(afs_syscall, long __user *, rets, const struct ferry_slot __user *, calls,
		unsigned long, ncall)
{
	/* x32 shares this table entry, but its calls differ. */
	if (in_compat_syscall())
		return -ENOSYS;
	return do_batch(rets, calls, ncall, 0, 0);
}

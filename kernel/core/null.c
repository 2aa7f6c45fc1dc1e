// SPDX-License-Identifier: GPL-2.0
/* null(): does nothing, to measure the cost of a crossing. */
#include <linux/syscalls.h>

SYSCALL_DEFINE0(null)
{
	return 0;
}

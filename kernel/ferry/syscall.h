/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_SYSCALL_H
#define _FERRY_SYSCALL_H

#include <linux/ferry.h>

/* Runs the batch for current, whose registers hold the system call, as batch(2) says. */
long do_batch(long __user *rets, const struct ferry_slot __user *calls, unsigned long ncall,
	      unsigned long flags, unsigned long size);

#endif /* _FERRY_SYSCALL_H */

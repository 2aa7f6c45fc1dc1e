/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_BATCH_H
#define _FERRY_BATCH_H

#include <linux/ferry.h>

/*
 * Runs the batch for current, whose registers hold the system call.  FLAGS has
 * the position to go on from, or is 0.  Returns what batch(2) does.
 */
long do_batch(long __user *rets, const struct ferry_slot __user *calls, unsigned long ncall,
	      unsigned long flags);

#endif /* _FERRY_BATCH_H */

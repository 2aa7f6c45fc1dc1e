/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_RESTART_H
#define _FERRY_RESTART_H

#include <linux/ferry.h>

/* Keeps the call of SLOT, as fetched into HEAD and REGS, because a signal interrupted it. */
void ferry_keep_call(const struct ferry_slot __user *slot, const struct ferry_head *head,
		     struct pt_regs *regs);

/* Puts the call that current kept for SLOT back into HEAD and REGS.  False: it is lost. */
bool ferry_take_back_call(const struct ferry_slot __user *slot, struct ferry_head *head,
			  struct pt_regs *regs);

#endif /* _FERRY_RESTART_H */

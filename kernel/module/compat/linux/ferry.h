/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_COMPAT_FERRY_H
#define _FERRY_COMPAT_FERRY_H

#include <linux/errno.h>

#include "../../../core/ferry.h"

/*
 * Asked before each call: a filter that a slot installs stops the batch.  Inline, so that
 * kernel/core needs no object of the module.
 */
extern __always_inline long subcall_with_work(struct pt_regs *regs, unsigned int nr,
					      bool *refused)
{
	*refused = true;
	return -ERESTARTNOINTR;
}

#endif /* _FERRY_COMPAT_FERRY_H */

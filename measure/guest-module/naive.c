// SPDX-License-Identifier: GPL-2.0
/* A batch as one would first write it: the mark to beat.  Only calls and jumps. */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/uaccess.h>

#include "internal.h"

static long run(const struct batch_slot *slot)
{
	struct prepared prepared = {};
	unsigned long nr = slot->nr;

	if (nr >= NR_CALLS)
		return -ENOSYS;
	prepare(&prepared, (const unsigned long *)slot->arg);
	return call(nr, &prepared);
}

static short jump(const struct batch_slot *slot, long result)
{
	if (!result)
		return slot->jump_zero;
	return IS_ERR_VALUE(result) ? slot->jump_fail : slot->jump_pos;
}

long naive_batch(const struct batch_args *args)
{
	const struct batch_slot __user *calls = u64_to_user_ptr(args->calls);
	long __user *rets = u64_to_user_ptr(args->rets);
	unsigned long i = 0, last = 0;
	struct batch_slot slot;
	long result;
	short skip;

	while (i < args->ncall) {
		if (copy_from_user(&slot, calls + i, sizeof(slot)))
			return -EFAULT;
		result = run(&slot);
		if (put_user(result, rets + i))
			return -EFAULT;
		last = i;
		skip = jump(&slot, result);
		if (skip < 0)
			break;
		i += 1 + skip;
	}
	return last;
}

// SPDX-License-Identifier: GPL-2.0
/* batch() as a system call. */
#include <linux/syscalls.h>

#include "batch.h"

SYSCALL_DEFINE2(batch, struct batch_args __user *, args, size_t, size)
{
	struct outer_call call __uninitialized;
	long answer;

	outer_call_begin(&call, true);
	answer = batch_run(&call.caller, args, size);
	outer_call_end(&call);
	return answer;
}

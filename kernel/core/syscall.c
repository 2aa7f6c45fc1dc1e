// SPDX-License-Identifier: GPL-2.0
/* batch() as a system call: it keeps its position in one of the caller's registers. */
#include <linux/compat.h>
#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/syscalls.h>
#include <asm/syscall.h>

#include "syscall.h"

/* The argument that holds the position, or the part of it, that a handler ends a call with. */
static const struct {
	int nr;
	u8 arg;
	unsigned long bit;
} outer_calls[] = {
	{ FERRY_NR_BATCH, 3, FERRY_BATCH_EINTR },
	{ FERRY_NR_BATCH_ALIAS, 2, (unsigned long)FERRY_BATCH_EINTR << FERRY_ALIAS_SHIFT },
	{ FERRY_NR_FLEXSC_SERVE, 0, FERRY_SERVE_EINTR },
};

/* What the interrupted call returned, of an outer one that left with RESULT. */
static long interrupted_result(long result)
{
	if (result < FERRY_BATCH_PARTIAL)
		return result;
	if (!(result & FERRY_BATCH_INTERRUPTED))
		return 0;
	return result & FERRY_BATCH_NOHAND ? -ERESTARTNOHAND : -ERESTARTSYS;
}

void subcall_handle_signal(struct pt_regs *regs, unsigned long sa_flags)
{
	long result = syscall_get_return_value(current, regs);
	int nr = syscall_get_nr(current, regs);
	unsigned long args[FERRY_MAX_ARGS];
	size_t i;

	/* The numbers of other ABIs mean other calls. */
	if (in_compat_syscall() ||
	    !ferry_handler_ends_call(interrupted_result(result), sa_flags))
		return;
	for (i = 0; i < ARRAY_SIZE(outer_calls); i++) {
		if (outer_calls[i].nr != nr)
			continue;
		if (result >= FERRY_BATCH_PARTIAL) {
			result |= FERRY_BATCH_EINTR;
			syscall_set_return_value(current, regs, 0, result);
			return;
		}
		syscall_get_arguments(current, regs, args);
		args[outer_calls[i].arg] |= outer_calls[i].bit;
		ferry_set_args(regs, args);
		syscall_set_return_value(current, regs, -ERESTARTNOINTR, 0);
	}
}

SYSCALL_DEFINE5(batch, long __user *, rets, const struct ferry_slot __user *, calls,
		unsigned long, ncall, unsigned long, flags, unsigned long, size)
{
	struct ferry_outer_call call __uninitialized;
	long answer = ferry_outer_batch(&call, (s64 __user *)rets, calls, ncall, flags, size, ~0UL);

	if (ferry_is_restart(answer))
		call.arg[3] = call.caller.position;
	else if (flags & FERRY_BATCH_RESUME)
		call.arg[3] = 0; /* as before the restart */
	ferry_outer_end(&call);
	return answer;
}

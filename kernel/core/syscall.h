/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_SYSCALL_H
#define _FERRY_SYSCALL_H

#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <asm/syscall.h>

#include "batch.h"

/* A system call that makes others. */
struct ferry_outer_call {
	struct ferry_caller caller;
	bool suspended; /* for audit and tracepoints */
	int filters;	/* the number of seccomp filters that allowed this call */
	/* The caller's values of the registers that it borrows. */
	unsigned long arg[FERRY_MAX_ARGS];
	unsigned long nr;
};

/* -1 in strict mode, which is never left. */
static inline int count_filters(void)
{
	if (seccomp_mode(&current->seccomp) == SECCOMP_MODE_STRICT)
		return -1;
#ifdef CONFIG_SECCOMP_FILTER
	return atomic_read(&current->seccomp.filter_count);
#else
	return 0;
#endif
}

/*
 * From here on the inner calls own the registers.  While one runs they hold its call, where
 * handlers, seccomp, audit and /proc look for it.
 */
static __always_inline void ferry_outer_begin(struct ferry_outer_call *call)
{
	struct pt_regs *regs = current_pt_regs();

	call->caller.regs = regs;
	call->caller.position = 0;
	call->caller.refused = false;
	call->filters = count_filters();
	call->nr = syscall_get_nr(current, regs);
	syscall_get_arguments(current, regs, call->arg);
	call->suspended = ferry_watchers(current) && subcall_suspend_outer(regs);
}

/* Up to here, where those in *CALL are restored. */
static __always_inline void ferry_outer_end(struct ferry_outer_call *call)
{
	struct pt_regs *regs = call->caller.regs;

	ferry_set_nr(regs, call->nr);
	ferry_set_args(regs, call->arg);
	if (call->suspended)
		subcall_resume_outer(regs);
}

/* Whether a restart of the call would have to pass filters that did not allow it before. */
static inline bool ferry_filters_changed(const struct ferry_outer_call *call)
{
	return call->filters != count_filters();
}

/* Where nobody else decides about the restart of a batch, which a loop would not make. */
static inline bool may_restart_batch(const struct ferry_outer_call *call)
{
	return !ferry_filters_changed(call) && !ferry_needs_real_call(current);
}

/*
 * Runs a batch between the two; POSITIONS is what the caller can hold of a position, as a
 * mask.  Returns the answer of batch(2), and the position for a restart in call->caller.
 */
static __always_inline long
ferry_outer_batch(struct ferry_outer_call *call, s64 __user *rets,
		  const struct ferry_slot __user *calls, unsigned long ncall,
		  unsigned long flags, unsigned long size, unsigned long positions)
{
	struct ferry_caller *caller = &call->caller;
	long answer;

	ferry_outer_begin(call);
	answer = ferry_batch(caller, rets, calls, ncall, flags, size);
	if (!ferry_is_restart(answer))
		return answer;
	if (!(caller->position & ~positions) && may_restart_batch(call))
		return answer;
	/* User space continues.  A handler may still end the call, and that is not for here. */
	if (answer == -ERESTARTNOINTR)
		caller->position &= ~FERRY_BATCH_INTERRUPTED;
	if (answer == -ERESTARTNOHAND)
		caller->position |= FERRY_BATCH_NOHAND;
	return FERRY_BATCH_PARTIAL | caller->position;
}

#endif /* _FERRY_SYSCALL_H */

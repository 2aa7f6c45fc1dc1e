/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_BATCH_H
#define _FERRY_BATCH_H

#include <linux/errno.h>
#include <linux/ferry.h>

/* The context of a batch: a system call, or an ioctl on the module's device. */
struct ferry_caller {
	struct pt_regs *regs; /* hold the call of the current slot */
	/*
	 * The flags to continue with after -ERESTARTNOINTR or -EOPNOTSUPP; 0 means
	 * those that the batch began with.  0 at the start, like stopped.
	 */
	unsigned long position;
	enum {
		NOT_STOPPED,
		STOPPED_REFUSING, /* user space has to make this call */
		STOPPED_FAULTING, /* a result cannot be accessed; SIGSEGV is pending */
		STOPPED_FOR_SIGNALS,
	} stopped;
};

/* Replaces a result; caller->stopped holds the state of the batch. */
#define FERRY_NO_RESULT (-ERESTARTNOINTR)

/* Implements batch(2) for current, except that it returns the position in caller->position. */
long ferry_batch(struct ferry_caller *caller, long __user *rets,
		 const struct ferry_slot __user *calls, unsigned long ncall, unsigned long flags,
		 unsigned long size);

/*
 * Provided by the caller: makes a call for a task under seccomp, audit, tracepoints
 * or ptrace; or sets caller->stopped to STOPPED_REFUSING and returns
 * FERRY_NO_RESULT.  NR is restart_syscall to continue a call after a signal.
 */
long ferry_watched_call(struct ferry_caller *caller, unsigned long nr);

/* Makes call NR, whose arguments are in REGS, unless it is blocked. */
long ferry_make_call(struct pt_regs *regs, unsigned long nr);

/*
 * Runs a slot with number NR, which is not negative, by ferry_make_call() or
 * ferry_watched_call().
 */
long ferry_run_call(struct ferry_caller *caller, unsigned long nr);

/* Continues the call that a signal interrupted. */
long ferry_restart_call(void);

/* Does what the exit to user space does between two calls of a loop, except for signals. */
void ferry_do_pending_work(struct pt_regs *regs);

/* Whether RESULT is one of -ERESTART* or FERRY_NO_RESULT, which user space must not see. */
static __always_inline bool ferry_is_internal(long result)
{
	return unlikely((unsigned long)(result + ERESTART_RESTARTBLOCK) <=
			ERESTART_RESTARTBLOCK - ERESTARTSYS);
}

#endif /* _FERRY_BATCH_H */

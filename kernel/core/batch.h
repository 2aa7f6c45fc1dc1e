/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_BATCH_H
#define _FERRY_BATCH_H

#include <linux/errno.h>
#include <linux/ferry.h>

/* In whose name a batch runs: a system call, or an ioctl of the module's device. */
struct ferry_caller {
	struct pt_regs *regs; /* hold the call of the slot that runs */
	/*
	 * flags to go on with, after -ERESTARTNOINTR or -EOPNOTSUPP; 0: those
	 * that the batch began with.  It is 0 before, as stopped is.
	 */
	unsigned long position;
	enum {
		NOT_STOPPED,
		STOPPED_REFUSING, /* only a system call of its own can make this one */
		STOPPED_FAULTING, /* a result is out of reach, and SIGSEGV on its way */
		STOPPED_FOR_SIGNALS,
	} stopped;
};

/* Instead of a result: what has become of the batch is in caller->stopped. */
#define FERRY_NO_RESULT (-ERESTARTNOINTR)

/* Does for current what batch(2) says, but for what caller->position is. */
long ferry_batch(struct ferry_caller *caller, long __user *rets,
		 const struct ferry_slot __user *calls, unsigned long ncall, unsigned long flags,
		 unsigned long size);

/*
 * The caller's: makes a call of a task under seccomp, audit, tracepoints or
 * ptrace; or sets caller->stopped to STOPPED_REFUSING and returns
 * FERRY_NO_RESULT.  NR is restart_syscall for one that goes on after a signal.
 */
long ferry_watched_call(struct ferry_caller *caller, unsigned long nr);

/* Makes the call NR, whose arguments are in REGS, unless batches may not. */
long ferry_make_call(struct pt_regs *regs, unsigned long nr);

/*
 * What a slot with the number NR, which is not negative, does: as ferry_make_call(), or as
 * ferry_watched_call().
 */
long ferry_run_call(struct ferry_caller *caller, unsigned long nr);

/* Goes on with the call that a signal interrupted. */
long ferry_restart_call(void);

/* What exit to user space does between the calls of a loop, signals excepted. */
void ferry_do_pending_work(struct pt_regs *regs);

/* One of -ERESTART*, or FERRY_NO_RESULT: nothing that user space may see. */
static __always_inline bool ferry_is_internal(long result)
{
	return unlikely((unsigned long)(result + ERESTART_RESTARTBLOCK) <=
			ERESTART_RESTARTBLOCK - ERESTARTSYS);
}

#endif /* _FERRY_BATCH_H */

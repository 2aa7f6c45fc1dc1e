/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_BATCH_H
#define _FERRY_BATCH_H

#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/sched/signal.h>
#include <asm/ferry.h>

/* The context of a batch: a system call, or an ioctl on the module's device. */
struct ferry_caller {
	struct pt_regs *regs; /* hold the call of the current slot */
	/* Where to continue after a restart, or a refusal; 0 at the start, like refused. */
	unsigned long position;
	bool refused; /* user space has to make the current call */
};

/* Whether TASK has pending work. */
static __always_inline bool ferry_has_work(struct task_struct *task)
{
	/* READ_ONCE() would not let this test them in memory; calls between make it read again. */
	return data_race(task_thread_info(task)->flags) & FERRY_TIF_WORK;
}

/* Like subcall_with_work(), for any task. */
static __always_inline long subcall(struct pt_regs *regs, unsigned int nr, bool *refused)
{
	if (unlikely(ferry_watchers(current)))
		return subcall_with_work(regs, nr, refused);
	return subcall_dispatch(regs, nr);
}

/*
 * Implements batch(2) for current.  The result may also be one of -ERESTART*: current is to
 * handle its signals, and to call this again with caller->position as FLAGS.
 */
long ferry_batch(struct ferry_caller *caller, s64 __user *rets,
		 const struct ferry_slot __user *calls, unsigned long ncall, unsigned long flags,
		 unsigned long size);

/* Makes call NR, whose arguments are in CALLER's registers, unless it is blocked. */
long ferry_run_call(struct ferry_caller *caller, unsigned int nr);

/*
 * Does what the exit to user space does between two calls of a loop, except for signals.
 * What it cannot do leaves signal_pending() true.
 */
void ferry_do_pending_work(struct pt_regs *regs);

/* Whether RESULT is one of -ERESTART*, if there are signals; or -ENOIOCTLCMD, from a driver. */
static __always_inline bool ferry_is_restart(long result)
{
	return unlikely((unsigned long)(result + ERESTART_RESTARTBLOCK) <=
			ERESTART_RESTARTBLOCK - ERESTARTSYS);
}

/*
 * Whether signal delivery decides what comes of a call that ended with RESULT, as it would
 * for a call from user space.
 */
static inline bool ferry_is_interrupted(long result)
{
	return ferry_is_restart(result) && result != -ENOIOCTLCMD && signal_pending(current);
}

/*
 * What the outer call returns for such a RESULT.  A call with a restart function never starts
 * anew: a handler ends it, and otherwise the outer call continues it.
 */
static inline long ferry_outer_result(long result)
{
	return result == -ERESTART_RESTARTBLOCK ? -ERESTARTNOHAND : result;
}

/* Whether a handler with SA_FLAGS ends a call that was interrupted with RESULT. */
static inline bool ferry_handler_ends_call(long result, unsigned long sa_flags)
{
	return result == -ERESTARTNOHAND ||
	       (result == -ERESTARTSYS && !(sa_flags & SA_RESTART));
}

/*
 * Where outer calls learn that a handler ended the current call: batch() in its flags, its
 * alias in the upper half of ncall, and flexsc_serve() in the address of the set.
 */
#define FERRY_ALIAS_SHIFT 32
#define FERRY_ALIAS_POSITIONS (U32_MAX | 0x7fffUL << FERRY_SKIPPED_SHIFT)
#define FERRY_SERVE_EINTR 1UL

#endif /* _FERRY_BATCH_H */

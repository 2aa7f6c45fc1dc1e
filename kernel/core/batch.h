/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _BATCH_H
#define _BATCH_H

#include <linux/errno.h>
#include <linux/ptrace.h>
#include <linux/subcall.h>
#include <linux/sched/signal.h>
#include <asm/subcall.h>
#include <asm/syscall.h>

/* The context of a batch. */
struct subcall_caller {
	struct pt_regs *regs; /* hold the call of the current slot */
	bool refused;	      /* user space has to make the current call; false at the start */
	bool is_batch;	      /* rather than one that makes batches, too */
	bool answers;	      /* the outer call ends as the current one, whose registers it keeps */
	int filters;	      /* the number of seccomp filters that allowed the outer call */
};

static __always_inline void subcall_caller_init(struct subcall_caller *caller, struct pt_regs *regs,
						bool is_batch, int filters)
{
	caller->regs = regs;
	caller->refused = false;
	caller->is_batch = is_batch;
	caller->answers = false;
	caller->filters = filters;
}

/* Whether TASK has pending work. */
static __always_inline bool subcall_has_work(struct task_struct *task)
{
	/* READ_ONCE() would not let this test them in memory; calls between make it read again. */
	return data_race(task_thread_info(task)->flags) & SUBCALL_TIF_WORK;
}

/* Whether RCU Tasks waits for TASK, which is current. */
static __always_inline bool subcall_delays_rcu_tasks(struct task_struct *task)
{
#ifdef CONFIG_TASKS_RCU
	/* As in subcall_has_work(): this is tested for each slot. */
	return data_race(task->rcu_tasks_holdout);
#else
	return false;
#endif
}

/* Like subcall_watched(), for any task. */
static __always_inline long subcall(struct pt_regs *regs, unsigned int nr, bool *refused)
{
	if (unlikely(subcall_watchers(current)))
		return subcall_watched(regs, nr, refused);
	return subcall_dispatch(regs, nr);
}

/*
 * Implements batch(2) for current.  The result may also be one of -ERESTART*: current is to
 * handle its signals, and to call this again with the same arguments.
 */
long batch_run(struct subcall_caller *caller, struct batch_args __user *args, size_t size);

/* Makes call NR, whose arguments are in CALLER's registers, unless it is blocked. */
long subcall_run(struct subcall_caller *caller, unsigned int nr);

/*
 * Does what the exit to user space does between two calls of a loop, except for signals.
 * What it cannot do leaves signal_pending() true.
 */
void subcall_do_pending_work(struct pt_regs *regs);

/* Whether RESULT is one of -ERESTART*, if there are signals; or -ENOIOCTLCMD, from a driver. */
static __always_inline bool subcall_is_restart(long result)
{
	return unlikely((unsigned long)(result + ERESTART_RESTARTBLOCK) <=
			ERESTART_RESTARTBLOCK - ERESTARTSYS);
}

/*
 * Whether signal delivery decides what comes of a call that ended with RESULT, as it would
 * for a call from user space.
 */
static inline bool subcall_is_interrupted(long result)
{
	return subcall_is_restart(result) && result != -ENOIOCTLCMD && signal_pending(current);
}

/*
 * What the outer call returns for such a RESULT.  A call with a restart function never starts
 * anew: a handler ends it, and otherwise the outer call continues it.
 */
static inline long outer_call_result(long result)
{
	return result == -ERESTART_RESTARTBLOCK ? -ERESTARTNOHAND : result;
}

/*
 * Whether a restart of the outer call would pass unnoticed.  A filter that came since it was
 * made need not allow another, and a tracer would see a call that a loop does not make.
 */
static inline bool outer_call_may_restart(const struct subcall_caller *caller)
{
	return caller->filters == subcall_count_filters() && !subcall_needs_real_call(current);
}

/* A system call that makes others. */
struct outer_call {
	struct subcall_caller caller;
	/* The caller's values of the registers that it borrows. */
	unsigned long arg[BATCH_MAX_ARGS];
	unsigned long nr;
};

/*
 * From here on the inner calls own the registers.  While one runs they hold its call, where
 * handlers, seccomp and /proc look for it.
 */
static __always_inline void outer_call_begin(struct outer_call *call, bool is_batch)
{
	struct pt_regs *regs = current_pt_regs();

	subcall_caller_init(&call->caller, regs, is_batch, subcall_count_filters());
	call->nr = syscall_get_nr(current, regs);
	syscall_get_arguments(current, regs, call->arg);
}

/* Most architectures restart the call whose number subcall_set_nr() sets. */
#ifndef subcall_set_restart_nr
static inline void subcall_set_restart_nr(struct pt_regs *regs)
{
}
#endif

/* Up to here, where those in *CALL are restored. */
static __always_inline void outer_call_end(struct outer_call *call)
{
	if (unlikely(call->caller.answers)) {
		subcall_set_restart_nr(call->caller.regs);
		return;
	}
	subcall_set_nr(call->caller.regs, call->nr);
	subcall_set_args(call->caller.regs, call->arg);
}

#endif /* _BATCH_H */

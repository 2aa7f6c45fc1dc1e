/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of batch() that architectures share.  Each defines batch_unsafe_fetch(), and
 * batch_access_begin() and batch_access_end() around it.  One without the generic entry code also
 * defines SUBCALL_TIF_WORK and SUBCALL_WATCHER*.
 */
#ifndef _ASM_GENERIC_SUBCALL_H
#define _ASM_GENERIC_SUBCALL_H

#include <linux/resume_user_mode.h>
#include <linux/sched.h>
#include <linux/subcall.h>
#include <linux/uaccess.h>

#ifdef _TIF_NEED_RESCHED_LAZY
#define SUBCALL_TIF_NEED_RESCHED (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY)
#else
#define SUBCALL_TIF_NEED_RESCHED _TIF_NEED_RESCHED
#endif

#ifndef SUBCALL_WATCHERS
#include <linux/entry-common.h>

/* Pending work that would be done between two calls of a loop. */
#define SUBCALL_TIF_WORK EXIT_TO_USER_MODE_WORK

/* In this word, these flags say what watches calls; one of them, that seccomp does. */
#define SUBCALL_WATCHER_FLAGS syscall_work
#define SUBCALL_WATCHERS SYSCALL_WORK_ENTER
#define SUBCALL_WATCHER_SECCOMP SYSCALL_WORK_SECCOMP
#endif

/* What entry code does for a call of TASK apart from dispatching it: 0 if nothing. */
static __always_inline unsigned long subcall_watchers(struct task_struct *task)
{
	/* As in subcall_has_work(). */
	return data_race(task_thread_info(task)->SUBCALL_WATCHER_FLAGS) & SUBCALL_WATCHERS;
}

/* Whether a watcher of TASK needs calls from user space.  seccomp does not. */
static __always_inline bool subcall_needs_real_call(struct task_struct *task)
{
	unsigned long watchers = subcall_watchers(task);

	if (IS_ENABLED(CONFIG_SUBCALL_SECCOMP))
		watchers &= ~SUBCALL_WATCHER_SECCOMP;
	return watchers;
}

/* Fetches SLOT, each byte once.  The caller has checked that it is in user space. */
static __always_inline int batch_fetch(struct batch_head *head, struct pt_regs *regs,
				       const struct batch_slot __user *slot)
{
	int error;

	batch_access_begin_nospec();
	error = batch_unsafe_fetch(head, regs, slot);
	batch_access_end();
	return error;
}

/*
 * Stores RESULT in *RET, then fetches SLOT, if that takes no page fault.  Leaves the jumps in HEAD
 * alone otherwise.  One user access covers both.  The caller has checked the bounds, and fetched
 * a slot since: the fence of that fetch serves for these accesses, too.  A CPU that mispredicts
 * that bound runs past it by the longest jump, 2 MiB, which on x86 is not canonical above user
 * space.
 */
static __always_inline int batch_store_and_fetch(s64 __user *ret, long result,
						 struct batch_head *head, struct pt_regs *regs,
						 const struct batch_slot __user *slot)
{
	int error = -EFAULT;

	pagefault_disable();
	batch_access_begin();
	unsafe_put_user(result, ret, bad_ret);
	error = batch_unsafe_fetch(head, regs, slot);
bad_ret:
	batch_access_end();
	pagefault_enable();
	return error;
}

#endif /* _ASM_GENERIC_SUBCALL_H */

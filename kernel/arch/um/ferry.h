/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of batch() specific to user-mode Linux on x86-64: the registers that
 * hold a call, dispatching a call, and fetching a slot.
 */
#ifndef __UM_FERRY_H
#define __UM_FERRY_H

#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/resume_user_mode.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <sysdep/ptrace.h>

/* User space ends here. */
#define FERRY_USER_END TASK_SIZE

/* Numbers from here on are not system calls. */
#define FERRY_NR_CALLS __NR_syscalls

/* Pending work that would be done between two calls of a loop. */
#define FERRY_TIF_NEED_RESCHED _TIF_NEED_RESCHED
#define FERRY_TIF_RESUME _TIF_NOTIFY_RESUME
#define FERRY_TIF_WORK _TIF_WORK_MASK

/* Does the work that FERRY_TIF_RESUME marks. */
static inline void ferry_resume_user_mode_work(struct pt_regs *regs)
{
	resume_user_mode_work(regs);
}

static __always_inline unsigned long *ferry_arg(struct pt_regs *regs, int k)
{
	switch (k) {
	case 0:
		return &UPT_SYSCALL_ARG1(&regs->regs);
	case 1:
		return &UPT_SYSCALL_ARG2(&regs->regs);
	case 2:
		return &UPT_SYSCALL_ARG3(&regs->regs);
	case 3:
		return &UPT_SYSCALL_ARG4(&regs->regs);
	case 4:
		return &UPT_SYSCALL_ARG5(&regs->regs);
	default:
		return &UPT_SYSCALL_ARG6(&regs->regs);
	}
}

static inline void ferry_get_args(struct pt_regs *regs, unsigned long args[])
{
	syscall_get_arguments(current, regs, args);
}

/* syscall_set_arguments() would look up the task, at the cost of a call. */
static inline void ferry_set_args(struct pt_regs *regs, const unsigned long args[])
{
	struct uml_pt_regs *r = &regs->regs;

	UPT_SYSCALL_ARG1(r) = args[0];
	UPT_SYSCALL_ARG2(r) = args[1];
	UPT_SYSCALL_ARG3(r) = args[2];
	UPT_SYSCALL_ARG4(r) = args[3];
	UPT_SYSCALL_ARG5(r) = args[4];
	UPT_SYSCALL_ARG6(r) = args[5];
}

static inline void ferry_set_nr(struct pt_regs *regs, unsigned long nr)
{
	PT_REGS_SYSCALL_NR(regs) = nr;
}

static inline unsigned long ferry_get_nr(const struct pt_regs *regs)
{
	return PT_REGS_SYSCALL_NR(regs);
}

/* What entry code does for a call of TASK apart from dispatching it: 0 if nothing. */
static __always_inline unsigned long ferry_watchers(struct task_struct *task)
{
	return read_task_thread_flags(task) & (_TIF_SYSCALL_TRACE | _TIF_SYSCALL_AUDIT |
					       _TIF_SECCOMP | BIT(TIF_SYSCALL_TRACEPOINT));
}

static __always_inline bool ferry_watched(void)
{
	return ferry_watchers(current);
}

/* User-mode Linux has no syscall user dispatch. */
static inline bool ferry_dispatched_to_user(void)
{
	return false;
}

/* Makes call NR < FERRY_NR_CALLS, whose arguments are in REGS. */
static __always_inline long ferry_dispatch(struct pt_regs *regs, unsigned long nr)
{
	struct uml_pt_regs *r = &regs->regs;

	ferry_set_nr(regs, nr);
	return sys_call_table[nr](UPT_SYSCALL_ARG1(r), UPT_SYSCALL_ARG2(r), UPT_SYSCALL_ARG3(r),
				  UPT_SYSCALL_ARG4(r), UPT_SYSCALL_ARG5(r), UPT_SYSCALL_ARG6(r));
}

/* The CPU reorders only a load after a store. */
#define ferry_order() barrier()

/*
 * Fetches SLOT, each byte once.  The caller has checked that it is below
 * FERRY_USER_END.
 */
static __always_inline int ferry_fetch(struct ferry_head *head, struct pt_regs *regs,
				       const struct ferry_slot __user *slot)
{
	unsigned long words[sizeof(*slot) / sizeof(long)] __uninitialized;

	if (__copy_from_user(words, slot, sizeof(words)))
		return -EFAULT;
	head->first_word = words[0];
	head->second_word = words[1];
	ferry_set_args(regs, words + 2);
	return 0;
}

/* The same within a user access. */
#define ferry_unsafe_fetch ferry_fetch

/* Stores RESULT in *RET, then fetches SLOT.  Returns 0, or which of the two failed. */
static __always_inline int ferry_store_and_fetch(long __user *ret, long result,
						 struct ferry_head *head, struct pt_regs *regs,
						 const struct ferry_slot __user *slot)
{
	if (__put_user(result, ret))
		return FERRY_BAD_RET;
	return ferry_fetch(head, regs, slot) ? FERRY_BAD_SLOT : 0;
}

#endif /* __UM_FERRY_H */

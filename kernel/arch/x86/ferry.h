/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of batch() specific to x86-64: dispatching a call, and fetching a slot.
 */
#ifndef _ASM_X86_FERRY_H
#define _ASM_X86_FERRY_H

#include <linux/entry-common.h>
#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/resume_user_mode.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/asm.h>
#include <asm/ptrace.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

/* Numbers from here on are not system calls. */
#define FERRY_NR_CALLS NR_syscalls

#ifdef _TIF_NEED_RESCHED_LAZY
#define FERRY_TIF_NEED_RESCHED (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY)
#else
#define FERRY_TIF_NEED_RESCHED _TIF_NEED_RESCHED
#endif

/* Pending work that would be done between two calls of a loop. */
#define FERRY_TIF_WORK EXIT_TO_USER_MODE_WORK

static __always_inline void ferry_set_args(struct pt_regs *regs, const unsigned long args[])
{
	regs->di = args[0];
	regs->si = args[1];
	regs->dx = args[2];
	regs->r10 = args[3];
	regs->r8 = args[4];
	regs->r9 = args[5];
}

/* Where REGS hold argument K, below FERRY_MAX_ARGS. */
static __always_inline unsigned long *ferry_arg(struct pt_regs *regs, unsigned int k)
{
	static const u8 places[FERRY_MAX_ARGS] = {
		offsetof(struct pt_regs, di),  offsetof(struct pt_regs, si),
		offsetof(struct pt_regs, dx),  offsetof(struct pt_regs, r10),
		offsetof(struct pt_regs, r8),  offsetof(struct pt_regs, r9),
	};

	return (void *)regs + places[k];
}

static __always_inline void ferry_set_nr(struct pt_regs *regs, unsigned int nr)
{
	regs->orig_ax = nr;
}

/* What entry code does for a call of TASK apart from dispatching it: 0 if nothing. */
static __always_inline unsigned long ferry_watchers(struct task_struct *task)
{
	/* As in ferry_has_work(). */
	return data_race(task_thread_info(task)->syscall_work) & SYSCALL_WORK_ENTER;
}

/* Tracers, emulation and user dispatch of TASK need a call from user space. */
static __always_inline bool ferry_needs_real_call(struct task_struct *task)
{
	return ferry_watchers(task) & (SYSCALL_WORK_SYSCALL_TRACE | SYSCALL_WORK_SYSCALL_EMU |
				       SYSCALL_WORK_SYSCALL_USER_DISPATCH);
}

static __always_inline long subcall_dispatch(struct pt_regs *regs, unsigned int nr)
{
	ferry_set_nr(regs, nr);
	return x64_sys_call(regs, nr);
}

/* The CPU reorders only a load after a store. */
#define ferry_order() barrier()

#define FERRY_WORD(address) "m" (*(u64 __force *)(address))

#define FERRY_FETCH_WORD(from, to)					\
	"1:	movq %[" #from "], %%rcx\n"				\
	"	movq %%rcx, %[" #to "]\n"				\
	_ASM_EXTABLE_UA(1b, %l[fault])

/*
 * Copies a slot to HEAD and REGS, within a user access; the number and the jumps last, so
 * that those of the slot before remain if this fails.  It is one asm statement instead of
 * an unsafe_get_user() per word: a compiler without asm goto outputs would test for a fault
 * after each word.
 */
static __always_inline int ferry_unsafe_fetch(struct ferry_head *head, struct pt_regs *regs,
					      const struct ferry_slot __user *slot)
{
	asm goto(FERRY_FETCH_WORD(arg0, di)
		 FERRY_FETCH_WORD(arg1, si)
		 FERRY_FETCH_WORD(arg2, dx)
		 FERRY_FETCH_WORD(arg3, r10)
		 FERRY_FETCH_WORD(arg4, r8)
		 FERRY_FETCH_WORD(arg5, r9)
		 FERRY_FETCH_WORD(user_rest, rest)
		 FERRY_FETCH_WORD(user_head, head)
		 : /* no outputs, hence the clobbered memory */
		 : [user_head] FERRY_WORD(&slot->nr), [head] FERRY_WORD(&head->first_word),
		   [user_rest] FERRY_WORD(&slot->argc), [rest] FERRY_WORD(&head->second_word),
		   [arg0] FERRY_WORD(&slot->arg[0]), [di] FERRY_WORD(&regs->di),
		   [arg1] FERRY_WORD(&slot->arg[1]), [si] FERRY_WORD(&regs->si),
		   [arg2] FERRY_WORD(&slot->arg[2]), [dx] FERRY_WORD(&regs->dx),
		   [arg3] FERRY_WORD(&slot->arg[3]), [r10] FERRY_WORD(&regs->r10),
		   [arg4] FERRY_WORD(&slot->arg[4]), [r8] FERRY_WORD(&regs->r8),
		   [arg5] FERRY_WORD(&slot->arg[5]), [r9] FERRY_WORD(&regs->r9)
		 : "rcx", "memory" : fault);
	return 0;
fault:
	return -EFAULT;
}

/* Fetches SLOT, each byte once.  The caller has checked that it is in user space. */
static __always_inline int ferry_fetch(struct ferry_head *head, struct pt_regs *regs,
				       const struct ferry_slot __user *slot)
{
	int error;

	__uaccess_begin_nospec();
	error = ferry_unsafe_fetch(head, regs, slot);
	__uaccess_end();
	return error;
}

/*
 * Stores RESULT in *RET, then fetches SLOT.  Leaves the jumps in HEAD alone if that fails.
 * One user access covers both.  The caller has checked the bounds, and fetched a slot since:
 * the fence of that fetch serves for these accesses, too.  A CPU that mispredicts that bound
 * runs past it by the longest jump, 2 MiB, and more than that above user space is not canonical.
 */
static __always_inline int ferry_store_and_fetch(s64 __user *ret, long result,
						 struct ferry_head *head, struct pt_regs *regs,
						 const struct ferry_slot __user *slot)
{
	int error = -EFAULT;

	__uaccess_begin();
	unsafe_put_user(result, ret, bad_ret);
	error = ferry_unsafe_fetch(head, regs, slot);
bad_ret:
	__uaccess_end();
	return error;
}

#endif /* _ASM_X86_FERRY_H */

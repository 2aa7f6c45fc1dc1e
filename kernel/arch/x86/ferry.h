/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What batch() needs to know of x86-64: the registers that hold a call, how
 * it is dispatched, and how a slot is fetched.
 */
#ifndef _ASM_X86_FERRY_H
#define _ASM_X86_FERRY_H

#include <linux/entry-common.h>
#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>
#include <asm/asm.h>
#include <asm/ptrace.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

/* User space ends here. */
#define FERRY_USER_END TASK_SIZE_MAX

/* Numbers from here on are no system calls. */
#define FERRY_NR_CALLS NR_syscalls

/* Pending work that a loop of calls would see done between two of them. */
#ifdef _TIF_NEED_RESCHED_LAZY
#define FERRY_TIF_NEED_RESCHED (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY)
#else
#define FERRY_TIF_NEED_RESCHED _TIF_NEED_RESCHED
#endif
#define FERRY_TIF_WORK							\
	(FERRY_TIF_NEED_RESCHED | _TIF_SIGPENDING | _TIF_NOTIFY_SIGNAL | _TIF_NOTIFY_RESUME)

static __always_inline unsigned long *ferry_arg(struct pt_regs *regs, int k)
{
	switch (k) {
	case 0:
		return &regs->di;
	case 1:
		return &regs->si;
	case 2:
		return &regs->dx;
	case 3:
		return &regs->r10;
	case 4:
		return &regs->r8;
	default:
		return &regs->r9;
	}
}

static inline void ferry_set_nr(struct pt_regs *regs, unsigned long nr)
{
	regs->orig_ax = nr;
}

static inline unsigned long ferry_get_nr(const struct pt_regs *regs)
{
	return regs->orig_ax;
}

/* Whether entry code has more to do for a call of this task than make it. */
static __always_inline bool ferry_watched(void)
{
	return READ_ONCE(current_thread_info()->syscall_work) & SYSCALL_WORK_ENTER;
}

/* Whether calls go back to user space, by prctl(PR_SET_SYSCALL_USER_DISPATCH). */
static inline bool ferry_dispatched_to_user(void)
{
	return test_syscall_work(SYSCALL_USER_DISPATCH);
}

/*
 * Makes the call NR < FERRY_NR_CALLS, whose arguments are in REGS.  Entry code
 * has a switch in the place of the table, lest user space train the very first
 * indirect branch of the kernel.  Here the fence of the fetch lies in between,
 * and the branch is like those that the handlers make.
 */
static __always_inline long ferry_dispatch(struct pt_regs *regs, unsigned long nr)
{
	regs->orig_ax = nr;
	return sys_call_table[nr](regs);
}

#define FERRY_FETCH_WORD(from, base, to)				\
	"1:	movq %c[" #from "](%[slot]), %%rax\n"			\
	"	movq %%rax, %c[" #to "](%[" #base "])\n"		\
	_ASM_EXTABLE_UA(1b, %l[fault])

/*
 * Moves a slot to HEAD and REGS, within a user access.  One asm statement
 * instead of an unsafe_get_user() per word: a compiler without asm goto
 * outputs would test for a fault after each of them.
 */
static __always_inline int ferry_unsafe_fetch(struct ferry_head *head, struct pt_regs *regs,
					      const struct ferry_slot __user *slot)
{
	asm goto(FERRY_FETCH_WORD(slot_first, head, head_first)
		 FERRY_FETCH_WORD(slot_second, head, head_second)
		 FERRY_FETCH_WORD(arg0, regs, di)
		 FERRY_FETCH_WORD(arg1, regs, si)
		 FERRY_FETCH_WORD(arg2, regs, dx)
		 FERRY_FETCH_WORD(arg3, regs, r10)
		 FERRY_FETCH_WORD(arg4, regs, r8)
		 FERRY_FETCH_WORD(arg5, regs, r9)
		 : /* no outputs */
		 : [slot] "r" (slot), [head] "r" (head), [regs] "r" (regs),
		   [slot_first] "i" (offsetof(struct ferry_slot, nr)),
		   [slot_second] "i" (offsetof(struct ferry_slot, argc)),
		   [arg0] "i" (offsetof(struct ferry_slot, arg[0])),
		   [arg1] "i" (offsetof(struct ferry_slot, arg[1])),
		   [arg2] "i" (offsetof(struct ferry_slot, arg[2])),
		   [arg3] "i" (offsetof(struct ferry_slot, arg[3])),
		   [arg4] "i" (offsetof(struct ferry_slot, arg[4])),
		   [arg5] "i" (offsetof(struct ferry_slot, arg[5])),
		   [head_first] "i" (offsetof(struct ferry_head, first_word)),
		   [head_second] "i" (offsetof(struct ferry_head, second_word)),
		   [di] "i" (offsetof(struct pt_regs, di)),
		   [si] "i" (offsetof(struct pt_regs, si)),
		   [dx] "i" (offsetof(struct pt_regs, dx)),
		   [r10] "i" (offsetof(struct pt_regs, r10)),
		   [r8] "i" (offsetof(struct pt_regs, r8)),
		   [r9] "i" (offsetof(struct pt_regs, r9))
		 : "rax", "memory" : fault);
	return 0;
fault:
	return -EFAULT;
}

/*
 * Fetches SLOT, each byte once.  The caller has checked that it lies below
 * FERRY_USER_END.
 */
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
 * Stores RESULT in *RET, then fetches SLOT.  0, or which of the two failed.
 * One user access for both, whose bounds the caller has checked.
 */
static __always_inline int ferry_store_and_fetch(long __user *ret, long result,
						 struct ferry_head *head, struct pt_regs *regs,
						 const struct ferry_slot __user *slot)
{
	int error;

	__uaccess_begin_nospec();
	unsafe_put_user(result, ret, bad_ret);
	error = ferry_unsafe_fetch(head, regs, slot);
	__uaccess_end();
	return unlikely(error) ? FERRY_BAD_SLOT : 0;
bad_ret:
	__uaccess_end();
	return FERRY_BAD_RET;
}

#endif /* _ASM_X86_FERRY_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of batch() specific to user-mode Linux on x86-64: dispatching a call, and
 * fetching a slot.
 */
#ifndef __UM_SUBCALL_H
#define __UM_SUBCALL_H

#include <linux/errno.h>
#include <linux/subcall.h>
#include <linux/mm.h>
#include <linux/resume_user_mode.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>
#include <linux/unroll.h>
#include <asm/ptrace.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <sysdep/ptrace.h>

/* Numbers from here on are not system calls. */
#define SUBCALL_NR_CALLS __NR_syscalls

/* Pending work that would be done between two calls of a loop. */
#define SUBCALL_TIF_NEED_RESCHED _TIF_NEED_RESCHED
#define SUBCALL_TIF_WORK _TIF_WORK_MASK

/* These do not use the task, and looking it up would cost a call. */
#define subcall_set_args(regs, args) syscall_set_arguments(NULL, regs, args)
#define subcall_set_nr(regs, nr) syscall_set_nr(NULL, regs, nr)

/* Where REGS hold argument K, below BATCH_MAX_ARGS. */
static __always_inline unsigned long *subcall_arg(struct pt_regs *regs, unsigned int k)
{
	static const u8 places[BATCH_MAX_ARGS] = {
		HOST_DI, HOST_SI, HOST_DX, HOST_R10, HOST_R8, HOST_R9,
	};

	return &regs->regs.gp[places[k]];
}

/* What entry code does for a call of TASK apart from dispatching it: 0 if nothing. */
static __always_inline unsigned long subcall_watchers(struct task_struct *task)
{
	return read_task_thread_flags(task) & (_TIF_SYSCALL_TRACE | _TIF_SYSCALL_AUDIT |
					       _TIF_SECCOMP | BIT(TIF_SYSCALL_TRACEPOINT));
}

/* Whether a watcher of TASK needs calls from user space.  seccomp does not. */
static __always_inline bool subcall_needs_real_call(struct task_struct *task)
{
	unsigned long watchers = subcall_watchers(task);

	if (IS_ENABLED(CONFIG_SUBCALL_SECCOMP))
		watchers &= ~_TIF_SECCOMP;
	return watchers;
}

/* Makes call NR, as handle_syscall() does. */
static __always_inline long subcall_dispatch(struct pt_regs *regs, unsigned int nr)
{
	struct uml_pt_regs *r = &regs->regs;

	subcall_set_nr(regs, nr);
	if (unlikely(nr >= SUBCALL_NR_CALLS))
		return -ENOSYS;
	return sys_call_table[nr](UPT_SYSCALL_ARG1(r), UPT_SYSCALL_ARG2(r), UPT_SYSCALL_ARG3(r),
				  UPT_SYSCALL_ARG4(r), UPT_SYSCALL_ARG5(r), UPT_SYSCALL_ARG6(r));
}

#define BATCH_SLOT_WORDS (sizeof(struct batch_slot) / sizeof(long))

/* Copies SLOT, each byte once.  One that lies in one page takes one walk and no callback. */
static __always_inline int batch_copy_slot(unsigned long words[BATCH_SLOT_WORDS],
					   const struct batch_slot __user *slot)
{
	const unsigned long *from;
	unsigned int i;

	if (unlikely(offset_in_page(slot) > PAGE_SIZE - sizeof(*slot)))
		return __copy_from_user(words, slot, sizeof(*slot)) ? -EFAULT : 0;
	from = um_user_address(slot, false);
	if (unlikely(!from))
		return -EFAULT;
	unrolled_full for (i = 0; i < BATCH_SLOT_WORDS; i++)
		words[i] = READ_ONCE(from[i]);
	return 0;
}

/* Fetches SLOT.  The caller has checked that it is in user space. */
static __always_inline int batch_fetch(struct batch_head *head, struct pt_regs *regs,
				       const struct batch_slot __user *slot)
{
	unsigned long words[BATCH_SLOT_WORDS] __uninitialized;
	int error = batch_copy_slot(words, slot);

	if (error)
		return error;
	head->first_word = words[0];
	head->second_word = words[1];
	subcall_set_args(regs, words + 2);
	return 0;
}

/* The same within a user access. */
#define batch_unsafe_fetch batch_fetch

/* Stores RESULT in *RET, then fetches SLOT; takes no page fault.  Leaves HEAD alone if it fails. */
static __always_inline int batch_store_and_fetch(s64 __user *ret, long result,
						 struct batch_head *head, struct pt_regs *regs,
						 const struct batch_slot __user *slot)
{
	int error;

	pagefault_disable();
	error = __put_user(result, ret) ? -EFAULT : batch_fetch(head, regs, slot);
	pagefault_enable();
	return error;
}

#endif /* __UM_SUBCALL_H */

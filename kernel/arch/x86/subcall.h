/* SPDX-License-Identifier: GPL-2.0 */
/* The part of batch() specific to x86-64: dispatching a call, and fetching a slot. */
#ifndef _ASM_X86_SUBCALL_H
#define _ASM_X86_SUBCALL_H

#include <linux/errno.h>
#include <linux/subcall.h>
#include <linux/uaccess.h>
#include <asm/asm.h>
#include <asm/ptrace.h>
#include <asm/subcall_dispatch.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

/* Numbers from here on are not system calls. */
#define SUBCALL_NR_CALLS NR_syscalls

static __always_inline void subcall_set_args(struct pt_regs *regs, const unsigned long args[])
{
	regs->di = args[0];
	regs->si = args[1];
	regs->dx = args[2];
	regs->r10 = args[3];
	regs->r8 = args[4];
	regs->r9 = args[5];
}

/* Where REGS hold argument K, below BATCH_MAX_ARGS. */
static __always_inline unsigned long *subcall_arg(struct pt_regs *regs, unsigned int k)
{
	static const u8 places[BATCH_MAX_ARGS] = {
		offsetof(struct pt_regs, di),  offsetof(struct pt_regs, si),
		offsetof(struct pt_regs, dx),  offsetof(struct pt_regs, r10),
		offsetof(struct pt_regs, r8),  offsetof(struct pt_regs, r9),
	};

	return (void *)regs + places[k];
}

static __always_inline void subcall_set_nr(struct pt_regs *regs, unsigned int nr)
{
	regs->orig_ax = nr;
}

#define batch_access_begin_nospec() __uaccess_begin_nospec()
#define batch_access_begin() __uaccess_begin()
#define batch_access_end() __uaccess_end()

#define BATCH_WORD(address) "m" (*(u64 __force *)(address))

#define BATCH_FETCH_WORD(from, to)					\
	"1:	movq %[" #from "], %%rcx\n"				\
	"	movq %%rcx, %[" #to "]\n"				\
	_ASM_EXTABLE_UA(1b, %l[fault])

/*
 * Copies a slot to HEAD and REGS, within a user access; the number and the jumps last, so
 * that those of the slot before remain if this fails.  It is one asm statement instead of
 * an unsafe_get_user() per word: a compiler without asm goto outputs would test for a fault
 * after each word.
 */
static __always_inline int batch_unsafe_fetch(struct batch_head *head, struct pt_regs *regs,
					      const struct batch_slot __user *slot)
{
	asm goto(BATCH_FETCH_WORD(arg0, di)
		 BATCH_FETCH_WORD(arg1, si)
		 BATCH_FETCH_WORD(arg2, dx)
		 BATCH_FETCH_WORD(arg3, r10)
		 BATCH_FETCH_WORD(arg4, r8)
		 BATCH_FETCH_WORD(arg5, r9)
		 BATCH_FETCH_WORD(user_rest, rest)
		 BATCH_FETCH_WORD(user_head, head)
		 : /* no outputs, hence the clobbered memory */
		 : [user_head] BATCH_WORD(&slot->nr), [head] BATCH_WORD(&head->first_word),
		   [user_rest] BATCH_WORD(&slot->argc), [rest] BATCH_WORD(&head->second_word),
		   [arg0] BATCH_WORD(&slot->arg[0]), [di] BATCH_WORD(&regs->di),
		   [arg1] BATCH_WORD(&slot->arg[1]), [si] BATCH_WORD(&regs->si),
		   [arg2] BATCH_WORD(&slot->arg[2]), [dx] BATCH_WORD(&regs->dx),
		   [arg3] BATCH_WORD(&slot->arg[3]), [r10] BATCH_WORD(&regs->r10),
		   [arg4] BATCH_WORD(&slot->arg[4]), [r8] BATCH_WORD(&regs->r8),
		   [arg5] BATCH_WORD(&slot->arg[5]), [r9] BATCH_WORD(&regs->r9)
		 : "rcx", "memory" : fault);
	return 0;
fault:
	return -EFAULT;
}

#include <asm-generic/subcall.h>

#endif /* _ASM_X86_SUBCALL_H */

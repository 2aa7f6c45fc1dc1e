/* SPDX-License-Identifier: GPL-2.0 */
/* The part of batch() specific to arm64: dispatching a call, and fetching a slot. */
#ifndef _ASM_ARM64_SUBCALL_H
#define _ASM_ARM64_SUBCALL_H

#include <linux/irq-entry-common.h>
#include <linux/subcall.h>
#include <linux/uaccess.h>
#include <asm/asm-extable.h>
#include <asm/subcall_dispatch.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

/* Numbers from here on are not system calls. */
#define SUBCALL_NR_CALLS __NR_syscalls

/* These do not use the task, and looking it up would cost a load. */
#define subcall_set_args(regs, args) syscall_set_arguments(NULL, regs, args)

static __always_inline void subcall_set_nr(struct pt_regs *regs, unsigned int nr)
{
	regs->syscallno = nr;
}

/* A call that is restarted reads its number from x8 again. */
static __always_inline void subcall_set_restart_nr(struct pt_regs *regs)
{
	regs->regs[8] = regs->syscallno;
}

#define subcall_set_restart_nr subcall_set_restart_nr

/* Where REGS hold argument K, below BATCH_MAX_ARGS: handlers read orig_x0, x0 is for the result. */
static __always_inline unsigned long *subcall_arg(struct pt_regs *regs, unsigned int k)
{
	return (unsigned long *)(k ? &regs->regs[k] : &regs->orig_x0);
}

/*
 * Pending work that would be done between two calls of a loop.  The exit to user space alone
 * loads the registers of the FPU, so each slot after a context switch would find that flag set.
 */
#define SUBCALL_TIF_WORK (EXIT_TO_USER_MODE_WORK & ~_TIF_FOREIGN_FPSTATE)

/* The flags of what watches calls are among the others, because the entry code is arm64's own. */
#define SUBCALL_WATCHER_FLAGS flags
#define SUBCALL_WATCHERS _TIF_SYSCALL_WORK
#define SUBCALL_WATCHER_SECCOMP _TIF_SECCOMP

#define batch_access_begin_nospec() uaccess_ttbr0_enable()
#define batch_access_begin() uaccess_ttbr0_enable()
#define batch_access_end() uaccess_ttbr0_disable()

#define BATCH_LOAD_WORD(label, to, offset)				\
	#label ":	ldtr	" #to ", [%[slot], #" #offset "]\n"	\
	_ASM_EXTABLE_UACCESS(label##b, %l[fault])

/*
 * Copies a slot to HEAD and REGS, within a user access; both stay as they are if this fails.
 * unsafe_get_user() would test each word's error without asm goto outputs in the compiler, and
 * would not store two words at once.
 */
static __always_inline int batch_unsafe_fetch(struct batch_head *head, struct pt_regs *regs,
					      const struct batch_slot __user *slot)
{
	static_assert(offsetof(struct batch_slot, argc) == 8);
	static_assert(offsetof(struct batch_slot, arg) == 16);
	static_assert(offsetof(struct batch_head, second_word) == 8);

	asm goto(BATCH_LOAD_WORD(1, x9, 0)
		 BATCH_LOAD_WORD(2, x10, 8)
		 BATCH_LOAD_WORD(3, x11, 16)
		 BATCH_LOAD_WORD(4, x12, 24)
		 BATCH_LOAD_WORD(5, x13, 32)
		 BATCH_LOAD_WORD(6, x14, 40)
		 BATCH_LOAD_WORD(7, x15, 48)
		 BATCH_LOAD_WORD(8, x17, 56)
		 "	stp	x9, x10, [%[head]]\n"
		 "	str	x11, [%[regs], %[orig_x0]]\n"
		 "	stp	x12, x13, [%[regs], #8]\n"
		 "	stp	x14, x15, [%[regs], #24]\n"
		 "	str	x17, [%[regs], #40]\n"
		 : /* no outputs, hence the clobbered memory */
		 : [slot] "r" (uaccess_mask_ptr(slot)), [head] "r" (head), [regs] "r" (regs),
		   [orig_x0] "i" (offsetof(struct pt_regs, orig_x0))
		 : "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x17", "memory" : fault);
	return 0;
fault:
	return -EFAULT;
}

#include <asm-generic/subcall.h>

#endif /* _ASM_ARM64_SUBCALL_H */

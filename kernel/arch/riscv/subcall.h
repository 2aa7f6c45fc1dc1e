/* SPDX-License-Identifier: GPL-2.0 */
/* The part of batch() specific to riscv64: dispatching a call, and fetching a slot. */
#ifndef _ASM_RISCV_SUBCALL_H
#define _ASM_RISCV_SUBCALL_H

#include <linux/nospec.h>
#include <linux/subcall.h>
#include <linux/uaccess.h>
#include <asm/asm-extable.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

/* Numbers from here on are not system calls. */
#define SUBCALL_NR_CALLS __NR_syscalls

/* These do not use the task, and looking it up would cost a load. */
#define subcall_set_args(regs, args) syscall_set_arguments(NULL, regs, args)
#define subcall_set_nr(regs, nr) syscall_set_nr(NULL, regs, nr)

/* Where REGS hold argument K, below BATCH_MAX_ARGS; a0 is for the result. */
static __always_inline unsigned long *subcall_arg(struct pt_regs *regs, unsigned int k)
{
	return k ? &regs->a0 + k : &regs->orig_a0;
}

/* Makes call NR, as do_trap_ecall_u() does for a 64-bit task; no other one reaches batch(). */
static __always_inline long subcall_dispatch(struct pt_regs *regs, unsigned int nr)
{
	regs->a7 = nr;
	if (unlikely(nr >= __NR_syscalls))
		return -ENOSYS;
	return ((syscall_t)sys_call_table[array_index_nospec(nr, __NR_syscalls)])(regs);
}

#define batch_access_begin_nospec() __enable_user_access()
#define batch_access_begin() __enable_user_access()
#define batch_access_end() __disable_user_access()

#define BATCH_FETCH_WORD(from, to)					\
	asm goto("1:	ld	t0, %0\n"				\
		 "	sd	t0, %1\n"				\
		 _ASM_EXTABLE(1b, %l[fault])				\
		 : /* no outputs, hence the clobbered memory */		\
		 : "m" (*(u64 __force *)(from)), "m" (*(u64 *)(to))	\
		 : "t0", "memory" : fault)

/*
 * Copies a slot to HEAD and REGS, within a user access; the number and the jumps last, so that
 * those of the slot before remain if this fails.  unsafe_get_user() would test each word's address
 * for its alignment and, without asm goto outputs in the compiler, its error.
 */
static __always_inline int batch_unsafe_fetch(struct batch_head *head, struct pt_regs *regs,
					      const struct batch_slot __user *slot)
{
	struct batch_slot copy;

	if (unlikely(!IS_ALIGNED((unsigned long)slot, sizeof(u64)))) {
		unsafe_copy_from_user(&copy, slot, sizeof(copy), fault);
		slot = (const struct batch_slot __user __force *)&copy;
	}
	BATCH_FETCH_WORD(&slot->arg[0], &regs->orig_a0);
	BATCH_FETCH_WORD(&slot->arg[1], &regs->a1);
	BATCH_FETCH_WORD(&slot->arg[2], &regs->a2);
	BATCH_FETCH_WORD(&slot->arg[3], &regs->a3);
	BATCH_FETCH_WORD(&slot->arg[4], &regs->a4);
	BATCH_FETCH_WORD(&slot->arg[5], &regs->a5);
	BATCH_FETCH_WORD(&slot->argc, &head->second_word);
	BATCH_FETCH_WORD(&slot->nr, &head->first_word);
	return 0;
fault:
	return -EFAULT;
}

#include <asm-generic/subcall.h>

#endif /* _ASM_RISCV_SUBCALL_H */

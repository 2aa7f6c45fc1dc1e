/* SPDX-License-Identifier: GPL-2.0 */
/* Calls a handler. */
#ifndef _ASM_ARM64_SUBCALL_DISPATCH_H
#define _ASM_ARM64_SUBCALL_DISPATCH_H

#include <linux/nospec.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

/* Makes call NR, as invoke_syscall() does for a 64-bit task; no other one reaches batch(). */
static __always_inline long subcall_dispatch(struct pt_regs *regs, unsigned int nr)
{
	regs->syscallno = nr;
	if (unlikely(nr >= __NR_syscalls))
		return -ENOSYS;
	return sys_call_table[array_index_nospec(nr, __NR_syscalls)](regs);
}

#endif /* _ASM_ARM64_SUBCALL_DISPATCH_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Calls handlers through the kernel's table, because stock kernels export none of them. */
#ifndef _FERRY_COMPAT_SUBCALL_DISPATCH_H
#define _FERRY_COMPAT_SUBCALL_DISPATCH_H

static __always_inline long subcall_dispatch(struct pt_regs *regs, unsigned int nr)
{
#ifdef CONFIG_ARM64
	regs->syscallno = nr;
	regs->regs[0] = regs->orig_x0; /* where handlers of older kernels read it */
#else
	regs->orig_ax = nr;
#endif
	if (unlikely(nr >= NR_syscalls))
		return -ENOSYS;
	return ferry_table[array_index_nospec(nr, NR_syscalls)](regs);
}

#endif /* _FERRY_COMPAT_SUBCALL_DISPATCH_H */

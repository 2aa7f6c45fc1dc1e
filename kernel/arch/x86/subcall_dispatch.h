/* SPDX-License-Identifier: GPL-2.0 */
/* Calling the handlers of x86-64 for batch(). */
#ifndef _ASM_X86_SUBCALL_DISPATCH_H
#define _ASM_X86_SUBCALL_DISPATCH_H

#include <asm/ptrace.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

/* X(name, handler) for the calls that batches make most. */
#define SUBCALL_FREQUENT(X)						\
	X(read, read) X(write, write) X(close, close) X(fstat, newfstat) \
	X(openat, openat) X(newfstatat, newfstatat) X(statx, statx)

#define SUBCALL_HANDLER(name, handler) long __x64_sys_##handler(const struct pt_regs *regs);
SUBCALL_FREQUENT(SUBCALL_HANDLER)

static __always_inline long subcall_dispatch(struct pt_regs *regs, unsigned long nr)
{
	regs->orig_ax = nr;
	return x64_sys_call(regs, nr);
}

#define SUBCALL_CASE(name, handler)					\
	case __NR_##name:						\
		regs->orig_ax = __NR_##name;				\
		*result = __x64_sys_##handler(regs);			\
		return true;

/* Makes a frequent call, which takes fewer comparisons than in x64_sys_call(). */
static __always_inline bool subcall_dispatch_frequent(struct pt_regs *regs, unsigned long nr,
						      long *result)
{
	switch (nr) {
	SUBCALL_FREQUENT(SUBCALL_CASE)
	default:
		return false;
	}
}

#endif /* _ASM_X86_SUBCALL_DISPATCH_H */

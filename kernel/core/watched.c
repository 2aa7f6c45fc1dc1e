// SPDX-License-Identifier: GPL-2.0
/* Calls within another, of tasks whose calls are watched. */
#include <linux/errno.h>
#include <linux/subcall.h>
#include <linux/seccomp.h>
#include <asm/subcall.h>
#include <asm/syscall.h>

/* Tracers, user dispatch, audit and tracepoints need a call from user space; filters do not. */
long subcall_watched(struct pt_regs *regs, unsigned int nr, bool *refused)
{
	bool permitted;

	*refused = subcall_needs_real_call(current);
	if (*refused)
		return -ERESTARTNOINTR;
	subcall_set_nr(regs, nr);
	syscall_set_return_value(current, regs, -ENOSYS, 0);
	permitted = seccomp_permit_subcall(refused);
	/* A call that a filter kills for has no result either; the signal is pending. */
	if (*refused || seccomp_mode(&current->seccomp) > SECCOMP_MODE_FILTER)
		return -ERESTARTNOINTR;
	return permitted ? subcall_dispatch(regs, nr) : syscall_get_return_value(current, regs);
}

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_SYSCALL_H
#define _FERRY_SYSCALL_H

#include <linux/ferry.h>

#include "batch.h"

struct ferry_registers {
	unsigned long arg[FERRY_MAX_ARGS];
	unsigned long nr;
};

/* A system call that makes others. */
struct ferry_outer_call {
	struct ferry_caller caller;
	/* Tracers saw it exit, and see its inner calls instead. */
	bool reported;
	struct ferry_registers saved; /* the caller's values of the registers that it borrows */
};

/* From here on, the inner calls own the registers ... */
void ferry_outer_begin(struct ferry_outer_call *call);

/*
 * ... up to here, where those in call->saved are restored.  Returns ANSWER; or -EOPNOTSUPP
 * if ANSWER would restart the call and seccomp does not allow that.
 */
long ferry_outer_end(struct ferry_outer_call *call, long answer);

/* Implements batch(2) for current, whose registers hold the system call. */
long do_batch(long __user *rets, const struct ferry_slot __user *calls, unsigned long ncall,
	      unsigned long flags, unsigned long size);

#endif /* _FERRY_SYSCALL_H */

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
	/* Tracers were told that it exited; they see its calls instead. */
	bool reported;
	struct ferry_registers saved; /* what it borrows of the caller's registers */
};

/* The registers are the inner calls' from here on ... */
void ferry_outer_begin(struct ferry_outer_call *call);

/*
 * ... to here, where those in call->saved are put back.  Returns ANSWER; or -EOPNOTSUPP
 * where that is to restart the call and seccomp would not let it.
 */
long ferry_outer_end(struct ferry_outer_call *call, long answer);

/* Runs the batch for current, whose registers hold the system call, as batch(2) says. */
long do_batch(long __user *rets, const struct ferry_slot __user *calls, unsigned long ncall,
	      unsigned long flags, unsigned long size);

#endif /* _FERRY_SYSCALL_H */

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_SYSCALL_H
#define _FERRY_SYSCALL_H

#include <linux/ferry.h>

#include "batch.h"

/* A system call that makes others. */
struct ferry_outer_call {
	struct ferry_caller caller;
	bool suspended; /* for audit and tracepoints */
	int filters;	/* the number of seccomp filters that allowed this call */
	/* The caller's values of the registers that it borrows. */
	unsigned long arg[FERRY_MAX_ARGS];
	unsigned long nr;
};

/*
 * From here on the inner calls own the registers.  While one runs they hold its call, where
 * handlers, seccomp, audit and /proc look for it.
 */
void ferry_outer_begin(struct ferry_outer_call *call);

/* Up to here, where those in *CALL are restored. */
void ferry_outer_end(struct ferry_outer_call *call);

/* Whether a restart of the call would have to pass filters that did not allow it before. */
bool ferry_filters_changed(const struct ferry_outer_call *call);

/*
 * Runs a batch between the two; POSITIONS is what the caller can hold of a position, as a
 * mask.  Returns the answer of batch(2), and the position for a restart in call->caller.
 */
long ferry_outer_batch(struct ferry_outer_call *call, s64 __user *rets,
		       const struct ferry_slot __user *calls, unsigned long ncall,
		       unsigned long flags, unsigned long size, unsigned long positions);

#endif /* _FERRY_SYSCALL_H */

/* SPDX-License-Identifier: MIT */
/*
 * A kernel with the batch system call, as far as the calling process can tell: a
 * seccomp filter traps the call's number, and the SIGSYS handler answers it with the
 * loop.  There is no way back, so only a child may install it.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

/* What the query gets for an answer. */
extern long fake_kernel_answer;

/* How many batches, queries not counted, crossed into it. */
extern volatile int fake_kernel_crossings;

/* The slot that it leaves to user space, with all that follow; none if negative. */
extern long fake_kernel_refuses;

/* The answer of a kernel that speaks this library's ABI. */
#define FAKE_KERNEL_RIGHT \
	(FERRY_ABI_VERSION | (FERRY_FEATURE_WDCPY | FERRY_FEATURE_FORWARD) << FERRY_FEATURE_SHIFT)

/* Ends the process with a message where seccomp is not to be had. */
void fake_kernel_install(void);

#endif /* FAKE_KERNEL_H */

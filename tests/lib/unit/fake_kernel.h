/* SPDX-License-Identifier: MIT */
/*
 * Makes the kernel appear to have the batch system call: a seccomp filter traps the
 * call's number, and the SIGSYS handler runs the loop.  This cannot be undone, so only a
 * child may install it.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

/* The answer to the query. */
extern long fake_kernel_answer;

/* How many batches it ran, not counting queries. */
extern volatile int fake_kernel_crossings;

/* It leaves this slot and all later ones to user space; none if negative. */
extern long fake_kernel_refuses;

/* What it returns then: -EOPNOTSUPP, or a filter's answer to the re-entry after a signal. */
extern long fake_kernel_refusal;

/* The state in which it leaves that slot; after BATCH_STORE, it runs what follows. */
extern unsigned long fake_kernel_state;

/* The answer of a kernel with this library's ABI. */
#define FAKE_KERNEL_RIGHT \
	(BATCH_VERSION | (BATCH_FEATURE_WDCPY | BATCH_FEATURE_FORWARD) << BATCH_FEATURE_SHIFT)

/* Ends the process with a message if seccomp is not available. */
void fake_kernel_install(void);

#endif /* FAKE_KERNEL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* How the tests in contract/ run a batch: by batch(), and user space's half of its protocol. */
#ifndef WAY_H
#define WAY_H

#include <stdbool.h>

#include <linux/subcall.h>

/* Whether these programs are built with sanitizers. */
#define SANITIZED 0

/* Makes the calls that the kernel leaves to user space, too.  Returns as batch(). */
long run_batch(long rets[], const struct batch_slot calls[], unsigned long ncall);

/* Whether a bad pointer of a word copy may raise SIGSEGV. */
static inline bool word_copy_may_fault(void)
{
	return false;
}

#endif /* WAY_H */

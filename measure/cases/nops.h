/* SPDX-License-Identifier: MIT */
/* io_uring's own cost: NOPs, submitted and waited for in one crossing. */
#ifndef NOPS_H
#define NOPS_H

#include <stdbool.h>

#define MOST_NOPS 32768 /* the most that a ring takes */

/** Why this process cannot use io_uring, as a constant sentence, or NULL. */
const char *nops_missing(void);

/**
 * Submits N NOPs, a power of two up to MOST_NOPS, LINKED into a chain or not, and reaps them.
 * Returns N - 1, as a batch of N slots does, or -errno.  The first call with an N sets its ring
 * up, which then belongs to this process: a child forked later cannot use it.
 */
long nops_run(unsigned long n, bool linked);

#endif /* NOPS_H */

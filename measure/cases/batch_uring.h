/* SPDX-License-Identifier: MIT */
/*
 * Batches by io_uring, by hand and at its best: the requests stay in their places in the ring, the
 * file is registered, and all of them are submitted and waited for in one crossing.
 */
#ifndef BATCH_URING_H
#define BATCH_URING_H

#include <stdbool.h>

#include <ferry.h>

#define MOST_REQUESTS 32768 /* the most that a ring takes */

/** Why io_uring is not available, as a constant sentence, or NULL. */
const char *uring_missing(void);

/** Whether io_uring has a request for the call of SLOT. */
bool uring_has(const struct batch_slot *slot);

/*
 * Each returns as ferry_batch().  NCALL is a power of two, MOST_REQUESTS at most.  The first run of
 * a size sets up a ring, which a child that is forked later cannot use.
 */

/** NCALL requests that do nothing, separate or in one chain: what io_uring itself costs. */
long uring_nops(long rets[], const struct batch_slot calls[], unsigned long ncall);
long uring_linked_nops(long rets[], const struct batch_slot calls[], unsigned long ncall);

/** The calls, all on the descriptor of the first; separate or in one chain. */
long uring_requests(long rets[], const struct batch_slot calls[], unsigned long ncall);
long uring_linked_requests(long rets[], const struct batch_slot calls[], unsigned long ncall);

#endif /* BATCH_URING_H */

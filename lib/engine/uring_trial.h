/* SPDX-License-Identifier: MIT */
/*
 * Whether auto sends runs through a ring.  A ring takes as long to make as a thousand calls, and on
 * some CPUs it is slower than the loop.  So each thread gives its first runs to the loop,
 * then some to a ring, and stays with whichever was faster.
 */
#ifndef URING_TRIAL_H
#define URING_TRIAL_H

#include <stdbool.h>

enum uring_way { URING_BY_LOOP, URING_BY_RING, URING_WAYS };

/* Slots that each way gets: by then the loop has spent about what a ring costs. */
#define URING_TRIAL_SLOTS 2048UL

/** How this thread's next run of reads, or of writes, goes. */
enum uring_way ferry__uring_trial_way(bool reads);

/** The time to pass to ferry__uring_trial_note(); 0 when it need not be called. */
long ferry__uring_trial_start(bool reads);

/** A run of SLOTS went WAY, from START until now. */
void ferry__uring_trial_note(bool reads, enum uring_way way, unsigned long slots, long start);

#endif /* URING_TRIAL_H */

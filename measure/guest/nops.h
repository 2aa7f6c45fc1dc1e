/* SPDX-License-Identifier: MIT */
/* io_uring's own cost: NOPs, submitted and waited for in one crossing. */
#ifndef NOPS_H
#define NOPS_H

#include <stdbool.h>

struct nops;

/** Rings for 1, 2, 4 ... LONGEST NOPs, LINKED into chains or not; NULL without io_uring. */
struct nops *nops_new(unsigned int longest, bool linked);

/** Submits N NOPs, a power of two, and reaps them. */
void nops_run(const void *nops, unsigned long n);

void nops_free(struct nops *nops);

#endif /* NOPS_H */

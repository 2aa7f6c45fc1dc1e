/* SPDX-License-Identifier: MIT */
/*
 * The indirect cost of a call: what it and the program between two calls evict from the caches and
 * the predictors of the CPU, and so from each other (FlexSC, Soares and Stumm, OSDI 2010).
 */
#ifndef TRACE_INDIRECT_H
#define TRACE_INDIRECT_H

#include "costs.h"

/**
 * Measures what each call of a kind takes longer when it alternates with work than when the calls,
 * and the work, follow each other: ns.  The work is 256 small functions with 16 KiB of data and
 * with 128 KiB; the error has the difference of both as well as the noise.  Takes some 0.1 s.
 */
void measure_indirect(struct figure indirect[CALL_KINDS]);

/** Whether INDIRECT is more than the noise. */
bool indirect_is_known(struct figure indirect);

#endif /* TRACE_INDIRECT_H */

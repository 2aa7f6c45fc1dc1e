/* SPDX-License-Identifier: MIT */
/* The rows of `ferry bench pagefault`: every way to have pages, in every order of touching. */
#ifndef PAGEFAULT_TOUCHES_H
#define PAGEFAULT_TOUCHES_H

#include "measure/harness/bench.h"
#include "pagefault_ways.h"

/**
 * Measures all of them in REGION, in turn.  *TOUCHES are those that have a trial, and those that
 * are missing.  Returns 0, or an exit status after complaining.
 */
int measure_touches(struct run *run, const struct region *region, json_t **touches);

/** The one with these properties where it was measured, or NULL; SIZE is pages per fault or 0. */
const json_t *find_touch(const json_t *touches, const char *access, const char *order,
			 const char *way, long size);

/** Says what they mean. */
void conclude_touches(struct run *run, const json_t *touches);

#endif /* PAGEFAULT_TOUCHES_H */

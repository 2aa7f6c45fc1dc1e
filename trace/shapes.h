/* SPDX-License-Identifier: MIT */
/* What the arguments of calls are, as far as their flow matters. */
#ifndef TRACE_SHAPES_H
#define TRACE_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "call.h"
#include "calls/calls.h"

static inline bool is_transfer(int nr)
{
	return nr == SYS_read || nr == SYS_write || nr == SYS_pread64 || nr == SYS_pwrite64;
}

/** What call NR takes, or NULL where that is not known or depends on other arguments. */
const struct call *shape_of(int nr);

/** The kind of argument K, or 0. */
static inline char kind_of(const struct call *shape, int k)
{
	return shape && k >= 0 && k < shape->most ? shape->args[k].kind : 0;
}

/** The first argument of one of KINDS, or -1. */
static inline int first_argument(const struct call *shape, const char *kinds)
{
	int k;

	for (k = 0; kind_of(shape, k); k++)
		if (strchr(kinds, kind_of(shape, k)))
			return k;
	return -1;
}

/** Whether CALL may wait, whatever file it works on. */
bool waits_for_others(const struct traced_call *call);

#endif /* TRACE_SHAPES_H */

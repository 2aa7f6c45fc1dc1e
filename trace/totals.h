/* SPDX-License-Identifier: MIT */
/* How often each call was made. */
#ifndef TRACE_TOTALS_H
#define TRACE_TOTALS_H

#include <stddef.h>

#include "call.h"

struct total {
	const char *missing; /* NULL: it is a record */
	const char *name;    /* once totals_sort() has been called */
	long nr, calls, failed;
	double share;
	double cpu_ns, wall_ns; /* of all, scaled up from the sample; NAN where no time was taken */
};

struct totals {
	long calls;
	long from_input; /* calls that read standard input */
	struct total of[CALL_LIMIT + 1];
};

void totals_add(struct totals *totals, const struct traced_call *call);

/**
 * The calls that were made, the most frequent first and those that are as frequent by name: kept,
 * with names and shares.
 */
struct total *totals_sort(const struct totals *totals, size_t *count);

#endif /* TRACE_TOTALS_H */

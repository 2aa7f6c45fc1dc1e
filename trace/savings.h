/* SPDX-License-Identifier: MIT */
/* What each way of doing the same work would save. */
#ifndef TRACE_SAVINGS_H
#define TRACE_SAVINGS_H

#include "costs.h"
#include "flow.h"
#include "totals.h"
#include "untraced.h"

struct saving {
	const char *missing; /* why there is nothing to gain, or NULL */
	const char *name;    /* a word that stays the same */
	const char *what;    /* for people */
	double calls;	     /* that it applies to */
	double ns, error;
	double share; /* of the CPU time, or NAN */
};

#define SAVINGS 5

struct conclusions {
	const struct sequences *sequences;
	struct plan plans[SEQUENCES_MAX];
	double scale;	    /* calls for each that is in a window */
	double scale_error; /* relative */
	struct saving savings[SAVINGS];
	const char *hindrance; /* what kept a call for many files from saving more, or NULL */
};

/** Whether CALL asks for a time that the vDSO could read. */
bool asks_clock_by_call(const struct traced_call *call);

/** Whether CALL asks for the attributes of a file by its path. */
bool asks_attributes(const struct traced_call *call);

/**
 * Whether CALL, to which its thread's last AT calls lead up in memory, is a read or write of few
 * bytes that goes on where the last of its file ended.
 */
bool is_needless_transfer(const struct traced_call *call, size_t at);

bool reads_data(const struct traced_call *call);

#define LARGE 65536.0 /* bytes: the buffer to use instead of a tiny one */

/** CPU_NS is that of the whole program, or NAN. */
struct conclusions conclude(const struct windows *windows, const struct totals *totals,
			    const struct costs *costs, const struct times *times, double cpu_ns);

#endif /* TRACE_SAVINGS_H */

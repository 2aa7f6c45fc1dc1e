/* SPDX-License-Identifier: MIT */
/* Calls that ask what an earlier call of the same process has already answered. */
#ifndef TRACE_FINDINGS_REPEATED_H
#define TRACE_FINDINGS_REPEATED_H

#include "evidence.h"

struct repeated {
	struct tally all;		/* the calls that ask one thing at least twice */
	struct tally again;		/* of these, all but the first of each thing */
	double things;			/* that were asked for */
	double most_times;		/* one of them was, by */
	const struct traced_call *most; /* NULL: nothing is repeated */
};

/** Claims, for findings of this KIND, the calls that ASKS gives a key; calls with one key ask one
 * thing and have one answer. */
struct repeated find_repeated(struct evidence *evidence,
			      bool (*asks)(const struct traced_call *call, uint64_t *key),
			      const char *kind);

#endif /* TRACE_FINDINGS_REPEATED_H */

/* SPDX-License-Identifier: MIT */
/* What `ferry bench batch` runs batches on: engines of the library, and things to compare. */
#ifndef BATCH_SIDES_H
#define BATCH_SIDES_H

#include <stdbool.h>

#include <ferry.h>

#define OTHER_SIDES 8
#define MAX_SIDES (FERRY_ENGINES + OTHER_SIDES)

struct side {
	const char *name;
	/* Why it is not available, as a constant sentence, or NULL; may itself be NULL. */
	const char *(*missing)(void);

	/* Returns as ferry_batch(). */
	long (*run)(long rets[], const struct batch_slot calls[], unsigned long ncall);

	int engine; /* of the library, or -1: then missing and run count */

	/* What it can do. */
	enum {
		PROGRAMS, /* all that slots can express */
		CALLS,	  /* calls, but neither forwarding, nor word copies, nor jumps */
		NOTHINGS, /* as many no-ops as there are slots */
		REQUESTS, /* calls for which io_uring has a request */
	} does;
};

/** The engine of the library called NAME. */
struct side side_of_engine(const char *name);

/** The other side called NAME, or NULL. */
const struct side *find_other_side(const char *name);

long side_run(const struct side *side, long rets[], const struct batch_slot calls[],
	      unsigned long ncall);

#endif /* BATCH_SIDES_H */

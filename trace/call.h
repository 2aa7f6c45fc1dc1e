/* SPDX-License-Identifier: MIT */
/* A system call of a traced thread, as a collector hands it over. */
#ifndef TRACE_CALL_H
#define TRACE_CALL_H

#include <stdbool.h>
#include <sys/types.h>

#include <ferry/loop.h>

/* Numbers from here on, and calls of another architecture, count as CALL_OTHER. */
#define CALL_LIMIT 1024
#define CALL_OTHER CALL_LIMIT

#define CALL_PATHS 2

struct traced_call {
	int nr;
	unsigned long args[6];
	long result; /* a failure is -errno */

	/* Of calls that are kept, or NULL: */
	char *paths[CALL_PATHS]; /* the arguments that are some */
	char *file;		 /* where the first descriptor leads, as /proc says */
};

void call_free_texts(struct traced_call *call);

static inline bool call_failed(const struct traced_call *call)
{
	return ferry_failed(call->result);
}

/* What a collector reports to.  All calls of a thread come in order; OBSERVER->call owns the texts.
 */
struct observer {
	/** THREAD is about to make CALL, without a result yet. */
	void (*begin)(void *context, pid_t thread, struct traced_call *call, void *own);

	/** It has ended.  *OWN, NULL at first, is the observer's, and different for each
	 * thread. */
	void (*call)(void *context, struct traced_call *call, void **own);

	/** The thread has ended, or is traced no longer. */
	void (*end)(void *context, void *own);

	void *context;
};

#endif /* TRACE_CALL_H */

/* SPDX-License-Identifier: MIT */
/* A system call of a traced thread, as a collector hands it over. */
#ifndef TRACE_CALL_H
#define TRACE_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <ferry/loop.h>

/* Numbers from here on, and calls of another architecture, count as CALL_OTHER. */
#define CALL_LIMIT 1024
#define CALL_OTHER CALL_LIMIT

#define CALL_PATHS 2

struct user_stack;

struct traced_call {
	int nr;
	pid_t process, thread;
	unsigned long args[6];
	long result; /* a failure is -errno */

	/* ns; with ptrace(2), the stops are in them.  0: the beginning was not seen. */
	float wall_ns, waited_ns; /* how long it took, and how long of that its thread slept */
	float cpu_ns;		  /* or NAN */
	float between_ns;	  /* CPU time since the end of the call before, 0 if not known */

	/* Of calls that are kept, 0 where it is not known: */
	uint64_t file_id;      /* of the file that the first descriptor leads to, among all */
	uint64_t directory_id; /* of the one that a relative path starts from */

	/* Of calls that are kept, or NULL: */
	char *paths[CALL_PATHS];  /* the arguments that are some */
	char *file;		  /* where the first descriptor leads, as /proc says */
	struct user_stack *stack; /* from which its callers are found */
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

	/**
	 * Someone asks for a report of what was collected since the last one: 0 once it is made and
	 * counting has begun anew, or -EAGAIN while the one before is not out.
	 */
	int (*report)(void *context);

	void *context;
};

#endif /* TRACE_CALL_H */

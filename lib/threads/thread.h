/* SPDX-License-Identifier: MIT */
/* A thread of the program, and what may run it: its own kernel thread (its home) or a carrier. */
#ifndef THREADS_THREAD_H
#define THREADS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "list.h"

/* Where a thread is.  Only the thread itself changes it. */
enum place {
	PLACE_NATIVE,  /* at home for good: each wrapper calls libc's function */
	PLACE_NEW,     /* at home; whether a carrier is worth it shows. Or all threads rest */
	PLACE_HOME,    /* at home for one call */
	PLACE_CARRIED, /* runs on carriers; its kernel thread sleeps */
};

/* A context that runs threads: a carrier's loop, or the loop of a home. */
struct host {
	void *sp;
	unsigned long tp; /* the thread pointer */
};

struct signal_stack {
	void *at;
	size_t size;
};

/* The states of a wait; those from WAIT_FIRED on are also why it ended. */
enum wait_state {
	WAIT_NONE,
	WAIT_LINKING, /* the nodes are being linked: whoever claims leaves the rest to arm() */
	WAIT_PARKED,  /* whoever claims resumes the thread */
	WAIT_FIRED,
	WAIT_TIMEOUT,
	WAIT_CALLED, /* a signal, a cancellation, or somebody binds the thread */
};

/* What another thread asks of a thread: bits of thread.called. */
enum call { CALL_SIGNAL = 1, CALL_CANCEL = 2, CALL_BIND = 4 };

/* Calls by which the work of a thread is measured. */
enum call_kind { CALL_OF_DESCRIPTOR, CALL_OF_LOCK, CALL_KINDS };

struct wait;
struct carrier;

#define READABLE_PAGES 2

/* In the static TLS of each thread, so that pthread_t leads to it: thread_of(). */
struct thread {
	enum place place;
	void *sp;	  /* the saved context, while it does not run */
	unsigned long tp; /* its thread pointer, on every host: TLS addresses may be kept */
	struct host *host;
	struct carrier *carrier;	/* that runs it now, or NULL; of a carrier's own: itself */
	void (*after)(struct thread *); /* for the host to do once the context is saved */
	struct thread *next;		/* in a queue, or among those to resume */
	int last;			/* the carrier that ran it last */

	struct host home;
	int home_word; /* futex: 1 calls the home */
	int tid;
	uint64_t mask; /* its signal mask, outside of handlers that run at home */
	uint64_t held; /* signals that it blocks, and that were pending when it left home */
	struct signal_stack signal_stack; /* while it is carried */

	int state; /* enum wait_state */
	struct wait *waits;
	int nwaits;
	int64_t deadline;
	struct timer {
		struct thread *child, *sibling, *back; /* a pairing heap; see timer.c */
		bool queued;
	} timer;

	int called;	   /* enum call */
	bool cancelled;	   /* pthread_cancel() was called for it */
	const char *bound; /* why it is at home for good */

	unsigned int calls, blocks, loops; /* while it is untried */
	unsigned int switches;		   /* the kernel's, at the first look; see untried.c */
	unsigned int computes;		   /* counts of waits with much CPU time between them */
	int64_t cpu_before; /* its CPU time when it first blocked, then was carried; ns */
	unsigned long work[CALL_KINDS]; /* calls since it was first carried */
	int budget;			/* of calls until another thread has its turn */
	int score;			/* waits carried, against trips home */
	int hogged;			/* how often it held a carrier by computing */
	int busy;			/* holds locks of the layer; see busy.h */
	unsigned int deferred;		/* what a handler meanwhile had to wake */
	int again_fd;			/* the last descriptor that said EAGAIN, or 0 */
	unsigned int again_seq;		/* its count of edges before that */

	unsigned long readable[READABLE_PAGES]; /* page numbers; see futex.c */

	int vforked;	     /* the process, while a child of vfork() may use its memory; or 0 */
	bool filtered;	     /* by a seccomp filter, which may forbid what carriers call */
	unsigned int domain; /* of privileges and placement; see confinement in binds.c */
	struct link all;     /* in the list of threads that were carried */
	bool listed;
	bool works; /* its calls and CPU time count in trials; see rest.c */
};

extern __thread struct thread ferry_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The structure lies at the same distance from each thread's control block. */
static inline struct thread *thread_of(pthread_t pthread)
{
	return (struct thread *)((char *)pthread + ((char *)&ferry_self - (char *)pthread_self()));
}

static inline bool is_carried(void)
{
	return __builtin_expect(ferry_self.place == PLACE_CARRIED, 0);
}

/* Whether carriers are worth it has not shown yet. */
static inline bool is_untried(const struct thread *thread)
{
	return thread->place == PLACE_NEW && !thread->listed;
}

static inline void count_work(enum call_kind kind)
{
	__atomic_store_n(&ferry_self.work[kind], ferry_self.work[kind] + 1, __ATOMIC_RELAXED);
}

/* Neither for good nor for a call at home: its waits are the layer's business. */
static inline bool is_watched(void)
{
	return ferry_self.place & 1;
}

_Static_assert((PLACE_NEW & 1) && (PLACE_CARRIED & 1) && !(PLACE_HOME & 1), "is_watched()");

#endif /* THREADS_THREAD_H */

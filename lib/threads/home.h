/* SPDX-License-Identifier: MIT */
/* A thread's own kernel thread: leaving it for carriers, going home for a call, and for good. */
#ifndef THREADS_HOME_H
#define THREADS_HOME_H

#include "raw.h"
#include "thread.h"

/* The stack that is left free for the home's loop below the thread's first frame, in bytes. */
unsigned long home_room(void);

/* Notes where the home's loop may run.  Called below, on the stack from home_room(). */
void home_prepare(struct thread *thread, void *top);

/* Switches from the thread to the host that runs it, which then does thread.after. */
void home_leave_host(struct thread *thread);

/**
 * A thread that is new or carried is about to wait.  Returns true if it is carried from now on;
 * false: it waits at home this time, with libc's function.
 */
bool home_depart(void);

/* Counts a wait of a carried thread. */
void home_score(struct thread *thread);

/*
 * The thread's kernel thread continues it: for the calls until home_leave(); no effect on a thread
 * that is not carried.  REASON is a literal: it is what the report prints.
 */
void home_enter(const char *reason);
void home_leave(void);

/* The number of the caller's own kernel thread, also on a carrier. */
static inline int home_tid(void)
{
	if (!ferry_self.tid)
		ferry_self.tid = (int)raw3(SYS_gettid, 0, 0, 0);
	return ferry_self.tid;
}

/* For good. */
void home_bind(const char *reason);

/* Asks another thread: bits of enum call. */
void home_call(struct thread *thread, int what);

/**
 * Does what others ask of the calling thread, whose wait they ended: handlers run, at home.
 * RESTARTS: a call that handlers with SA_RESTART do not end.  Returns 0 to go on waiting, or
 * -EINTR.  At a cancellation point, it may not return.
 */
long home_answer(bool restarts, bool cancellation_point);

/* At the start of each call that is a cancellation point. */
static inline void home_check(void)
{
	if (__builtin_expect(__atomic_load_n(&ferry_self.called, __ATOMIC_RELAXED) ||
				     ferry_self.cancelled,
			     0))
		home_answer(true, true);
}

/* Of other calls, and of those that libc makes: it acts on a cancellation where it has to. */
static inline void home_check_signals(void)
{
	if (__builtin_expect(__atomic_load_n(&ferry_self.called, __ATOMIC_RELAXED), 0))
		home_answer(true, false);
}

/* The thread ends, at home. */
void home_end(void);

/* The threads that were ever carried, until one for which VISIT is true: that one, or NULL. */
struct thread *home_find(bool (*visit)(struct thread *thread, const void *data), const void *data);

/* What the threads that were ever carried have done since, until they stay at home for good. */
struct work {
	unsigned long calls[CALL_KINDS];
	int64_t cpu;	       /* of their kernel threads and of the carriers, ns */
	int64_t time;	       /* now, ns */
	unsigned long threads; /* that still do that */
};

void home_read_work(struct work *work);

/* CPU time of the whole process, ns: cheaper than the work of each thread. */
int64_t home_cpu(void);

/* After fork(), in the child. */
void homes_reset(void);

#endif /* THREADS_HOME_H */

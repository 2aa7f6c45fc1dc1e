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
 * A new thread is about to wait.  Returns true if it is carried from now on; false: it waits at
 * home this time.
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

/* At the start of each call that may be a cancellation point or wait. */
static inline void home_check(void)
{
	if (__builtin_expect(__atomic_load_n(&ferry_self.called, __ATOMIC_RELAXED) ||
				     ferry_self.cancelled,
			     0))
		home_answer(true, true);
}

/* The thread ends, at home. */
void home_end(void);

/* The threads that were ever carried, until one for which VISIT is true: that one, or NULL. */
struct thread *home_find(bool (*visit)(struct thread *thread, const void *data), const void *data);

/* After fork(), in the child. */
void homes_reset(void);

#endif /* THREADS_HOME_H */

/* SPDX-License-Identifier: MIT */
/*
 * The scheduler of one kernel thread's user-level threads.  It is that kernel thread's alone:
 * only what its rings point to is shared.
 */
#ifndef FLEXSC_SCHEDULER_H
#define FLEXSC_SCHEDULER_H

#include "confinement.h"
#include "direct.h"
#include "exceptions.h"
#include "helper.h"
#include "lane.h"
#include "poller.h"
#include "sleepers.h"

/* A limit that means: a signal handler has interrupted the library, which must not be entered. */
#define INSIDE (POST_NOTHING - 1)

struct scheduler {
	struct ferry_thread *current;
	struct queue ready;
	bool timed;

	/* Of enum who: what may be posted; what is posted without a closer look; and the same now,
	 * INSIDE the library nothing. */
	int limit, shortcut, posting;
	bool eager;		 /* posts calls that never wait, too */
	unsigned int key_rights; /* of each runner */
	bool checks_keys;

	/* The kernel thread's own: threads take turns with them. */
	int *error;
	struct exceptions *exceptions; /* NULL without a C++ library */

	unsigned int lanes;
	struct lane *turn; /* the lane to look at next */
	struct lane *give; /* the lane of the next thread */
	int left;	   /* switches until the next glance at the time */
	bool gives_turns;  /* LEFT is promised to those that were woken last, and to one more */
	long looked_ns;	   /* when the last look around was */
	unsigned long looked_ticks;
	unsigned int glances; /* since then */
	unsigned int made;    /* calls that never wait, made here since the count of calls began */
	long counted_ns;      /* when that was */
#ifdef SWITCH_ASAN
	struct ferry_thread *came_from;
#endif
	struct ring *held_up; /* rings with one call that blocks its runner: no longer a lane's */
	struct sleepers sleepers;
	struct poller poller;
	struct bell bell;
	struct helper *helpers; /* whose threads run */
	unsigned int helper_count;
	struct ferry_flexsc *flexsc;
	unsigned long threads;	  /* spawned and not joined */
	struct ferry_thread *all; /* these, the latest first; ferry-gdb.py reads it */
	struct ferry_thread main; /* the kernel thread's own code */
	struct lane lane[FERRY_FLEXSC_MAX_RUNNERS];
};

/** The calling kernel thread's, or NULL. */
extern _Thread_local struct scheduler *ferry__scheduler
	__attribute__((__tls_model__("initial-exec")));

/** Starts a scheduler whose main thread is the caller: 0, -ENOMEM or -EAGAIN. */
int ferry__scheduler_start(struct ferry_flexsc *flexsc);

/** In a forked child: cancels what the calling thread's user-level threads had under way. */
void ferry__scheduler_live_as_child(void);

/** Ends the calling kernel thread's scheduler, which has no threads any more. */
void ferry__scheduler_end(void);

/** Switches to a thread that can run; returns once another thread switches back. */
void ferry__scheduler_wait(struct scheduler *scheduler);

/** The same, until UNTIL (ns of clock_ns()) at most: false if that time has come first. */
bool ferry__scheduler_wait_until(struct scheduler *scheduler, long until);

/** The current thread has spent time without a switch: others may get their turn. */
void ferry__scheduler_took_turn(struct scheduler *scheduler);

/** Whether no other thread is ready and no call is posted. */
bool ferry__scheduler_is_alone(const struct scheduler *scheduler);

/**
 * The thread to switch to: one that is ready, or one whose call is done.  Each look around readies
 * the threads whose time has come or whose call is done, so none starves.
 */
struct ferry_thread *ferry__scheduler_pick(struct scheduler *scheduler);

/** Switches to another thread for good: the current one has returned. */
void ferry__scheduler_leave(struct scheduler *scheduler) __attribute__((__noreturn__));

/** Makes a thread ready that waits, with or without a time limit. */
static inline void scheduler_wake(struct scheduler *s, struct ferry_thread *thread)
{
	ferry__sleepers_remove(&s->sleepers, thread);
	queue_put(&s->ready, thread);
}

/** A wait begins: the time is looked at sooner than if nobody waited. */
static inline void scheduler_hurry(struct scheduler *s)
{
	if (!s->gives_turns)
		s->left = 0;
}

/** Whether the caller is a signal handler that has interrupted the library. */
static inline bool scheduler_is_inside(const struct scheduler *s)
{
	return s->posting == INSIDE;
}

/** Whether the thread's rights to memory differ from the runners'. */
static inline bool scheduler_keys_differ(const struct scheduler *s)
{
	return FERRY_UNLIKELY(s->checks_keys) && key_rights() != s->key_rights;
}

/** Before the scheduler is changed, and after: a signal handler may come at any time. */
static inline void scheduler_enter(struct scheduler *s)
{
	s->posting = INSIDE;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void scheduler_exit(struct scheduler *s)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->posting = s->shortcut;
}

/** What a thread does first when it has been switched to. */
static inline void scheduler_arrived(struct scheduler *s, struct ferry_thread *self)
{
#ifdef SWITCH_ASAN
	fiber_enter(&self->fiber, &s->came_from->fiber);
#endif
	*s->error = self->error;
	if (FERRY_UNLIKELY(s->exceptions))
		*s->exceptions = self->exceptions;
}

/**
 * Switches to TO, which may be the current thread.  Returns the current thread once another
 * switches back to it; never when it ENDS.
 */
static inline struct ferry_thread *scheduler_switch(struct scheduler *s, struct ferry_thread *to,
						    bool ends)
{
	struct ferry_thread *self = s->current;

#ifdef SWITCH_ASAN
	if (to == self)
		return self;
	s->came_from = self;
#endif
	s->current = to;
	self->error = *s->error;
	if (FERRY_UNLIKELY(s->exceptions))
		self->exceptions = *s->exceptions;
	fiber_leave(&self->fiber, &to->fiber, ends);
	/* The thread that switches back passes this one as its own TO. */
	self = (struct ferry_thread *)context_switch(&self->context, &to->context);
	scheduler_arrived(s, self);
	return self;
}

#endif /* FLEXSC_SCHEDULER_H */

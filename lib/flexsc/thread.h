/* SPDX-License-Identifier: MIT */
/*
 * User-level threads and what schedules those of one kernel thread.  All of it is that
 * thread's alone: nothing here is shared but what rings point to.
 */
#ifndef FLEXSC_THREAD_H
#define FLEXSC_THREAD_H

#include "ring.h"
#include "sleepers.h"
#include "switch.h"

struct ferry_thread {
	struct context context; /* while another runs; it must be first */
	struct ferry_thread *next;
	struct lane *lane;
	long result;			   /* of its latest call */
	const struct ferry_entry *pending; /* its call, while there is no entry for it */

	struct ferry_thread *joining; /* the one it waits for */
	struct ferry_thread *joiner;  /* who waits for it */
	bool has_returned;
	void *(*start)(void *argument);
	void *argument; /* of start(), then what that returned */
	struct stack *stack;
	struct fiber fiber;
	struct ferry_flexsc_times times;
};

struct queue {
	struct ferry_thread *first, *last;
};

/* A way to one of the runners, for the threads that were given to it. */
struct lane {
	/* Entries of the ring less calls under way and pending ones.  In a timed scheduler far
	 * below 0, so that no call takes the short way. */
	int room;

	/* The set's runner; where posting takes a fence, a word that never says RUNNING. */
	const unsigned int *runner;
	struct lane *next; /* in a circle */
	struct ring ring;
	struct queue full; /* threads with pending calls */
	unsigned int slot;

	/* When the ring was first seen to stand still, and where. */
	long still_since;
	unsigned int still_head;
};

struct scheduler {
	struct ferry_thread *current;
	struct queue ready;
	bool timed;
	unsigned int lanes;
	struct lane *turn; /* the lane to look at next */
	struct lane *give; /* the lane of the next thread */
	unsigned int picks;
#ifdef SWITCH_ASAN
	struct ferry_thread *left; /* the one that ran before */
#endif
	struct ring *held_up; /* rings whose oldest call blocks the runner: no longer a lane's */
	struct sleepers sleepers;
	struct ferry_flexsc *flexsc;
	unsigned long threads;	  /* spawned and not joined */
	struct ferry_thread main; /* the kernel thread's own code */
	struct lane lane[FERRY_FLEXSC_MAX_RUNNERS];
};

/** The calling kernel thread's, or NULL. */
extern _Thread_local struct scheduler *scheduler __attribute__((__tls_model__("initial-exec")));

/** A scheduler whose main thread is the caller: 0, -ENOMEM or -EAGAIN. */
int scheduler_start(struct ferry_flexsc *flexsc);

/** Ends the calling kernel thread's, which has no threads any more. */
void scheduler_end(void);

/** Goes on with another thread that can, until somebody goes on with the current one. */
void scheduler_wait(struct scheduler *scheduler);

/** The thread that goes on: one whose call is done first, then one that is ready. */
struct ferry_thread *scheduler_pick(struct scheduler *scheduler);

/** The current thread has returned: goes on with others for ever. */
void scheduler_leave(struct scheduler *scheduler) __attribute__((__noreturn__));

/** The rest of lane_collect() where calls are pending or timed. */
void lane_collect_slowly(struct lane *lane, struct ferry_thread *thread,
			 const struct ferry_entry *entry);

/** Posts pending calls while there are entries for them. */
void lane_post_pending(struct lane *lane);

/** Opens a ring for the lane: 0, or -EAGAIN, with the lane as it was. */
int lane_open(struct lane *lane, struct ferry_flexsc *flexsc);

/** Does what is due while no thread can go on; may sleep. */
void scheduler_idle(struct scheduler *scheduler);

/** Wakes sleepers, collects what was held up, and moves calls away from a blocked runner. */
void scheduler_look_around(struct scheduler *scheduler);

static inline void queue_put(struct queue *queue, struct ferry_thread *thread)
{
	thread->next = NULL;
	if (queue->first)
		queue->last->next = thread;
	else
		queue->first = thread;
	queue->last = thread;
}

/** From a queue that is not empty. */
static inline struct ferry_thread *queue_take(struct queue *queue)
{
	struct ferry_thread *thread = queue->first;

	queue->first = thread->next;
	return thread;
}

/** What a timed runner left in ENTRY; anything when it is not. */
static inline void thread_note_times(struct ferry_thread *thread, const struct ferry_entry *entry)
{
	thread->times.taken = entry->arg[4];
	thread->times.run = entry->arg[5];
}

/** Gives ENTRY, whose call is filled in, to the runner. */
static inline void lane_submit(struct lane *lane, struct ferry_entry *entry)
{
	entry_publish(entry);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the light fence */
	if (FERRY_UNLIKELY(__atomic_load_n(lane->runner, __ATOMIC_RELAXED) != FERRY_RUNNER_RUNNING))
		entry_rouse(lane->ring.runner->set, entry);
}

/** The thread whose call is the lane's oldest, if that is done and now collected, or NULL. */
static inline struct ferry_thread *lane_collect(struct lane *lane)
{
	unsigned int head = lane->ring.head;
	struct ferry_entry *entry = &lane->ring.entry[head % RING];
	struct ferry_thread *thread;

	if (!entry_is_done(entry))
		return NULL;
	thread = lane->ring.waiter[head % RING];
	thread->result = entry->result;
	__atomic_store_n(&entry->status, FERRY_ENTRY_FREE, __ATOMIC_RELAXED);
	lane->ring.head = head + 1;
	__builtin_prefetch(entry + 1); /* the next one to collect, but for the last in the ring */
	if (FERRY_UNLIKELY(++lane->room <= 0))
		lane_collect_slowly(lane, thread, entry);
	return thread;
}

/** What a thread does first when it has been switched to. */
static inline void scheduler_arrived(struct scheduler *s, struct ferry_thread *self)
{
#ifdef SWITCH_ASAN
	fiber_enter(&self->fiber, &s->left->fiber);
#else
	(void)s, (void)self;
#endif
}

/**
 * Goes on with TO, which may be the current thread.  Returns the current thread when somebody
 * goes on with it, unless it ENDS.
 */
static inline struct ferry_thread *scheduler_switch(struct scheduler *s, struct ferry_thread *to,
						    bool ends)
{
	struct ferry_thread *self = s->current;

#ifdef SWITCH_ASAN
	if (to == self)
		return self;
	s->left = self;
#endif
	s->current = to;
	fiber_leave(&self->fiber, &to->fiber, ends);
	/* Whoever goes on with this thread leaves it here, as its own TO. */
	self = (struct ferry_thread *)context_switch(&self->context, &to->context);
	scheduler_arrived(scheduler, self);
	return self;
}

#endif /* FLEXSC_THREAD_H */

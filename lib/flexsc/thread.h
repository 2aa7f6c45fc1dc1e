/* SPDX-License-Identifier: MIT */
/* A user-level thread, and queues of them.  Both belong to one kernel thread. */
#ifndef FLEXSC_THREAD_H
#define FLEXSC_THREAD_H

#include <stdbool.h>
#include <stddef.h>

#include <ferry_flexsc.h>

#include "exceptions.h"
#include "switch.h"

struct lane;
struct stack;

struct ferry_thread {
	struct context context; /* while another runs; it must be first */
	struct ferry_thread *next;
	struct lane *lane;
	long result; /* of its latest call */
	int error;   /* errno while another runs, and the exceptions */
	struct exceptions exceptions;
	size_t sleeper;			   /* its place among the sleepers, from 1; 0: none */
	bool timed_out;			   /* its latest wait with a time limit */
	const struct ferry_entry *pending; /* its call, while there is no entry for it */

	/* Where it waits for another thread, and its neighbours there. */
	struct ferry_waiters *waits_in;
	struct ferry_thread *next_waiter, *previous_waiter;

	/* Its neighbours among all threads of the scheduler; for debuggers. */
	struct ferry_thread *next_of_all, *previous_of_all;
	char name[FERRY_THREAD_NAME];

	struct ferry_thread *joining; /* the thread that it waits for */
	struct ferry_waiters joiner;  /* the thread that waits for it */
	bool has_returned;
	void *(*start)(void *argument);
	void *argument; /* of start(), then what start() returned */
	struct stack *stack;
	struct fiber fiber;
	struct ferry_flexsc_times times;
};

struct queue {
	struct ferry_thread *first, *last;
};

static inline void queue_put(struct queue *queue, struct ferry_thread *thread)
{
	thread->next = NULL;
	if (queue->first)
		queue->last->next = thread;
	else
		queue->first = thread;
	queue->last = thread;
}

/** Puts the threads of FRONT, in their order, before those of QUEUE. */
static inline void queue_put_first(struct queue *queue, const struct queue *front)
{
	if (!front->first)
		return;
	if (!queue->first)
		queue->last = front->last;
	front->last->next = queue->first;
	queue->first = front->first;
}

/** Takes the first thread out of a queue that is not empty. */
static inline struct ferry_thread *queue_take(struct queue *queue)
{
	struct ferry_thread *thread = queue->first;

	queue->first = thread->next;
	return thread;
}

/** Stores the times that a timed runner left in ENTRY; without FERRY_FLEXSC_TIMES, anything. */
static inline void thread_note_times(struct ferry_thread *thread, const struct ferry_entry *entry)
{
	thread->times.taken = entry->arg[4];
	thread->times.run = entry->arg[5];
}

#endif /* FLEXSC_THREAD_H */

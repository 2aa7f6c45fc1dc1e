/* SPDX-License-Identifier: MIT */
/*
 * What a walk still has to do: directories to read, in the order of a recursion, and names whose
 * attributes are not known yet.  The queue is locked with its lock.
 */
#ifndef FILES_WALK_QUEUE_H
#define FILES_WALK_QUEUE_H

#include <pthread.h>

#include "walk_names.h"
#include "walk_node.h"

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct node *first, *last;
	size_t waiting; /* directories that nobody reads yet */
	size_t claimed; /* of a sorted walk: directories that are being read, or are READY */
	size_t window;	/* the most of them, except for the first; 0: the walk is not sorted */
	struct names *names;
	size_t names_waiting;
	unsigned int busy;    /* members that work on something */
	unsigned int starved; /* of these, members that wait for a free descriptor */
};

/* One piece of work: a directory or names. */
struct task {
	struct node *node;
	struct names *names;
};

void ferry__queue_init(struct queue *queue, size_t window);
void ferry__queue_destroy(struct queue *queue);

/** Takes a task and makes the caller busy, or returns false when there is none now. */
bool ferry__queue_take(struct queue *queue, struct task *task);

/** Puts NODE before PLACE, or at the end if that is NULL. */
void ferry__queue_insert(struct queue *queue, struct node *node, struct node *place);

void ferry__queue_remove(struct queue *queue, struct node *node);

/** Waits for a change, at most NSEC nanoseconds. */
void ferry__queue_wait(struct queue *queue, long nsec);

void ferry__queue_add_names(struct queue *queue, struct names *names);

#endif /* FILES_WALK_QUEUE_H */

// SPDX-License-Identifier: MIT
#include "walk_queue.h"

#include "clock.h"

void ferry__queue_init(struct queue *queue, size_t window)
{
	*queue = (struct queue){ .window = window };
	pthread_mutex_init(&queue->lock, NULL);
	ferry__condition_init(&queue->changed);
}

void ferry__queue_destroy(struct queue *queue)
{
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
}

void ferry__queue_insert(struct queue *queue, struct node *node, struct node *place)
{
	node->next = place;
	node->previous = place ? place->previous : queue->last;
	*(node->previous ? &node->previous->next : &queue->first) = node;
	*(place ? &place->previous : &queue->last) = node;
	queue->waiting++;
}

void ferry__queue_remove(struct queue *queue, struct node *node)
{
	*(node->previous ? &node->previous->next : &queue->first) = node->next;
	*(node->next ? &node->next->previous : &queue->last) = node->previous;
	if (node->state == WAITING)
		queue->waiting--;
	else
		queue->claimed--;
}

/*
 * The directory to read next, or NULL.  In a sorted walk it stays in the queue until it has been
 * passed on.  The first may always be read: all others wait for it.
 */
static struct node *claim(struct queue *queue)
{
	struct node *node = queue->first;

	if (!queue->window) {
		if (node)
			ferry__queue_remove(queue, node);
		return node;
	}
	while (node && node->state != WAITING)
		node = node->next;
	if (!node || (node != queue->first && queue->claimed >= queue->window))
		return NULL;
	node->state = READING;
	queue->waiting--;
	queue->claimed++;
	return node;
}

bool ferry__queue_take(struct queue *queue, struct task *task)
{
	*task = (struct task){ .names = queue->names };
	if (task->names) {
		queue->names = task->names->next;
		queue->names_waiting--;
	} else {
		task->node = claim(queue);
	}
	if (!task->names && !task->node)
		return false;
	queue->busy++;
	return true;
}

void ferry__queue_wait(struct queue *queue, long nsec)
{
	ferry__wait_until(&queue->changed, &queue->lock, ferry__now() + nsec);
}

void ferry__queue_add_names(struct queue *queue, struct names *names)
{
	names->next = queue->names;
	queue->names = names;
	queue->names_waiting++;
}

/* SPDX-License-Identifier: MIT */
/* A ring of links; a zeroed head is an empty ring. */
#ifndef THREADS_LIST_H
#define THREADS_LIST_H

#include <stddef.h>

struct link {
	struct link *next, *previous;
};

static inline void list_append(struct link *head, struct link *link)
{
	if (!head->next)
		head->next = head->previous = head;
	link->previous = head->previous;
	link->next = head;
	head->previous->next = link;
	head->previous = link;
}

static inline void list_remove(struct link *link)
{
	link->next->previous = link->previous;
	link->previous->next = link->next;
}

#endif /* THREADS_LIST_H */

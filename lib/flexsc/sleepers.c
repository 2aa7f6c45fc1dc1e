// SPDX-License-Identifier: MIT
#include "sleepers.h"

#include <errno.h>
#include <stdlib.h>

#include "thread.h"

static int make_room(struct sleepers *sleepers)
{
	size_t room = sleepers->room ? 2 * sleepers->room : 16;
	struct sleeper *heap;

	if (sleepers->count < sleepers->room)
		return 0;
	heap = realloc(sleepers->heap, room * sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	sleepers->heap = heap;
	sleepers->room = room;
	return 0;
}

static void put(struct sleepers *sleepers, size_t i, struct sleeper sleeper)
{
	sleepers->heap[i] = sleeper;
	sleeper.thread->sleeper = i + 1;
}

/* Puts NEW at I or nearer to the top. */
static void rise(struct sleepers *sleepers, size_t i, struct sleeper new)
{
	size_t parent;

	for (; i; i = parent) {
		parent = (i - 1) / 2;
		if (sleepers->heap[parent].until <= new.until)
			break;
		put(sleepers, i, sleepers->heap[parent]);
	}
	put(sleepers, i, new);
}

/* Puts NEW at I or below. */
static void sink(struct sleepers *sleepers, size_t i, struct sleeper new)
{
	const struct sleeper *heap = sleepers->heap;
	size_t child;

	for (;; i = child) {
		child = 2 * i + 1;
		if (child + 1 < sleepers->count && heap[child + 1].until < heap[child].until)
			child++;
		if (child >= sleepers->count || heap[child].until >= new.until)
			break;
		put(sleepers, i, heap[child]);
	}
	put(sleepers, i, new);
}

int ferry__sleepers_add(struct sleepers *sleepers, struct ferry_thread *thread, long until)
{
	if (make_room(sleepers))
		return -ENOMEM;
	sleepers->count++;
	rise(sleepers, sleepers->count - 1, (struct sleeper){ until, thread });
	return 0;
}

void ferry__sleepers_remove(struct sleepers *sleepers, struct ferry_thread *thread)
{
	size_t i = thread->sleeper - 1;
	struct sleeper last;

	if (!thread->sleeper)
		return;
	thread->sleeper = 0;
	last = sleepers->heap[--sleepers->count];
	if (i == sleepers->count)
		return;
	if (i && sleepers->heap[(i - 1) / 2].until > last.until)
		rise(sleepers, i, last);
	else
		sink(sleepers, i, last);
}

struct ferry_thread *ferry__sleepers_take(struct sleepers *sleepers, long now)
{
	struct ferry_thread *thread;

	if (!sleepers->count || sleepers->heap[0].until > now)
		return NULL;
	thread = sleepers->heap[0].thread;
	ferry__sleepers_remove(sleepers, thread);
	return thread;
}

void ferry__sleepers_free(struct sleepers *sleepers)
{
	free(sleepers->heap);
	*sleepers = (struct sleepers){ 0 };
}

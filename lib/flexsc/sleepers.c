// SPDX-License-Identifier: MIT
#include "sleepers.h"

#include <errno.h>
#include <stdlib.h>

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

int ferry__sleepers_add(struct sleepers *sleepers, struct ferry_thread *thread, long until)
{
	size_t i = sleepers->count;

	if (make_room(sleepers))
		return -ENOMEM;
	sleepers->count++;
	for (; i && sleepers->heap[(i - 1) / 2].until > until; i = (i - 1) / 2)
		sleepers->heap[i] = sleepers->heap[(i - 1) / 2];
	sleepers->heap[i] = (struct sleeper){ until, thread };
	return 0;
}

/* Puts LAST where the first was, or below. */
static void sink(struct sleepers *sleepers, struct sleeper last)
{
	struct sleeper *heap = sleepers->heap;
	size_t i = 0, child;

	for (;;) {
		child = 2 * i + 1;
		if (child + 1 < sleepers->count && heap[child + 1].until < heap[child].until)
			child++;
		if (child >= sleepers->count || heap[child].until >= last.until)
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
}

struct ferry_thread *ferry__sleepers_take(struct sleepers *sleepers, long now)
{
	struct ferry_thread *thread;

	if (!sleepers->count || sleepers->heap[0].until > now)
		return NULL;
	thread = sleepers->heap[0].thread;
	sleepers->count--;
	if (sleepers->count)
		sink(sleepers, sleepers->heap[sleepers->count]);
	return thread;
}

void ferry__sleepers_free(struct sleepers *sleepers)
{
	free(sleepers->heap);
	*sleepers = (struct sleepers){ 0 };
}

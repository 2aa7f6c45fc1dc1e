// SPDX-License-Identifier: MIT
#include "ring.h"

#include <unistd.h>

#include "flexsc.h"

int ferry__ring_open(struct ring *ring, struct ferry_flexsc *flexsc, unsigned int slot)
{
	struct runner *runner = flexsc_slot(flexsc, slot);
	struct ferry_entry *entry = ferry__runner_claim_ring(flexsc, runner);
	unsigned int i;

	if (!entry)
		return -EAGAIN;
	for (i = 0; i < RING; i++)
		__atomic_store_n(&entry[i].argc, FERRY_MAX_ARGS, __ATOMIC_RELAXED);
	*ring = (struct ring){ .entry = entry, .runner = runner, .tid = gettid() };
	return 0;
}

void ferry__ring_close(const struct ring *ring)
{
	ferry__runner_free_ring(ring->runner, ring->entry);
}

static void collect(struct ring *ring, unsigned int index, struct queue *ready)
{
	struct ferry_entry *entry = &ring->entry[index];
	struct ferry_thread *thread = ring->waiter[index];

	thread->result = entry_is_refused(entry) ? ferry__entry_run(entry) : entry->result;
	thread_note_times(thread, entry);
	__atomic_store_n(&entry->status, FERRY_ENTRY_FREE, __ATOMIC_RELAXED);
	ring_leave_hole(ring, index);
	queue_put(ready, thread);
}

void ferry__ring_collect(struct ring *ring, struct queue *ready)
{
	unsigned int i;

	for (i = ring->head; i != ring->tail; i++)
		if (ring->waiter[i % RING] && entry_is_over(&ring->entry[i % RING]))
			collect(ring, i % RING, ready);
	for (; ring_calls(ring) && !ring->waiter[ring->head % RING]; ring->head++)
		ring->holes--;
}

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

bool ferry__ring_post_bell(struct ring *ring, struct bell *bell)
{
	static const __u64 one = 1;
	struct ferry_entry *entry;

	if (ring->has_bell)
		return true;
	if (ring_calls(ring) == RING)
		return false;
	ring->has_bell = true;
	entry = ring_claim(ring, &bell->waiter);
	entry_fill(entry, SYS_write, bell->eventfd, (long)&one, sizeof(one), 0, 0, 0);
	ferry__entry_submit(ring->runner->set, entry);
	return true;
}

static void collect(struct ring *ring, unsigned int index, struct queue *ready)
{
	struct ferry_entry *entry = &ring->entry[index];
	struct ferry_thread *thread = ring->waiter[index];

	if (entry_is_refused(entry))
		entry->result = ferry__entry_run(entry);
	__atomic_store_n(&entry->status, FERRY_ENTRY_FREE, __ATOMIC_RELAXED);
	ring_leave_hole(ring, index);
	if (ring_collect_bell(ring, thread))
		return;
	thread->result = entry->result;
	thread_note_times(thread, entry);
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

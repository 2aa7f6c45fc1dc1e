// SPDX-License-Identifier: MIT
#include "ring.h"

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
	*ring = (struct ring){ .entry = entry, .runner = runner };
	return 0;
}

void ferry__ring_close(const struct ring *ring)
{
	ferry__runner_free_ring(ring->runner, ring->entry);
}

// SPDX-License-Identifier: MIT
#include "relief.h"

#include <stdlib.h>

#include "flexsc.h"
#include "scheduler.h"

/* While the runner is busy with one call, its state is read at growing intervals up to this. */
#define LONGEST_INTERVAL_NS 5000000L

/* ---- moving calls ---- */

/* Posts a copy of a withdrawn call. */
static void post_again(struct lane *lane, const struct ferry_entry *old,
		       struct ferry_thread *waiter)
{
	struct ferry_entry *entry = ring_claim(&lane->ring, waiter);

	entry_fill(entry, old->nr, old->arg[0], old->arg[1], old->arg[2], old->arg[3], old->arg[4],
		   old->arg[5]);
	lane_submit(lane, entry);
	lane->room--;
}

static void withdraw(struct ring *ring)
{
	unsigned int first = ring->head % RING, count = ring_calls(ring);
	unsigned int before_end = first + count > RING ? RING - first : count;

	ferry__runner_withdraw(ring->runner, &ring->entry[first], before_end);
	ferry__runner_withdraw(ring->runner, ring->entry, count - before_end);
}

static bool is_free(const struct ferry_entry *entry)
{
	return __atomic_load_n(&entry->status, __ATOMIC_RELAXED) == FERRY_ENTRY_FREE;
}

static void move_withdrawn(struct ring *from, struct lane *lane)
{
	struct ferry_thread *waiter;
	unsigned int i, index;

	for (i = from->head; i != from->tail; i++) {
		index = i % RING;
		waiter = from->waiter[index];
		if (!waiter || !is_free(&from->entry[index]))
			continue;
		ring_leave_hole(from, index);
		if (waiter->lane)
			post_again(lane, &from->entry[index], waiter);
		else
			from->has_bell = false;
	}
}

/* ---- calls that block ---- */

bool ferry__is_waited_behind(const struct lane *lane)
{
	unsigned int calls = ring_under_way(&lane->ring);

	return calls > 1 || lane->full.first ||
	       (calls && !entry_is_begun(ring_oldest(&lane->ring)));
}

/* The call that the runner is in, or NULL. */
static const struct ferry_entry *begun_call(const struct ring *ring)
{
	const struct ferry_entry *entry;
	unsigned int i;

	for (i = 0; i < ring_calls(ring); i++) {
		entry = ring_behind(ring, i);
		if (ring->waiter[(ring->head + i) % RING] && entry_is_begun(entry))
			return entry;
	}
	return NULL;
}

/* A call that blocks though its descriptor was PLAIN: this may be another file by now. */
static void doubt_descriptor(struct scheduler *s, const struct ferry_entry *entry)
{
	struct descriptor *descriptor;

	if (!poller_is_plain(&s->poller, (unsigned long)entry->arg[0]))
		return;
	descriptor = ferry__poller_find(&s->poller, entry->arg[0]);
	if (descriptor)
		descriptor->kind = UNKNOWN;
}

/* If no runner is left, the calls stay where they are, and it is tried again. */
static void relieve(struct scheduler *s, struct lane *lane)
{
	struct ring *old = malloc(sizeof(*old));

	if (!old)
		return;
	*old = lane->ring;
	if (ferry__runner_replace(s->flexsc, lane->slot, old->runner) ||
	    ferry__lane_open(lane, s->flexsc)) {
		free(old);
		return;
	}
	ferry__lane_leave(lane, old);
	withdraw(old);
	move_withdrawn(old, lane);
	/* Of those that were not withdrawn, all but the one that blocks are done. */
	ferry__ring_collect(old, &s->ready);
	old->next = s->held_up;
	s->held_up = old;
	scheduler_hurry(s);
	ferry__lane_post_pending(lane);
}

static bool has_progressed(const struct lane *lane)
{
	return lane->progress != ring_progress(&lane->ring) || !lane->still_since;
}

static void note_progress(struct lane *lane, long now)
{
	lane->progress = ring_progress(&lane->ring);
	lane->still_since = now;
	lane->look_at = now;
}

static void look_later(struct lane *lane, long now)
{
	long interval = now - lane->still_since;

	lane->look_at = now + (interval < LONGEST_INTERVAL_NS ? interval : LONGEST_INTERVAL_NS);
}

/*
 * While the oldest call changes, its successors are collected in their turn; looking at all of
 * them would take their cache lines from the runner.
 */
void ferry__relieve_if_blocked(struct scheduler *s, struct lane *lane, long now)
{
	const struct ferry_entry *begun;

	if (!has_progressed(lane))
		ferry__lane_collect_all(lane, &s->ready);
	if (has_progressed(lane) || !ferry__is_waited_behind(lane)) {
		note_progress(lane, now);
		return;
	}
	if (now < lane->look_at)
		return;
	begun = begun_call(&lane->ring);
	/* The call that blocks may also be another kernel thread's. */
	if (!ferry__runner_is_blocked(lane->ring.runner)) {
		look_later(lane, now);
		return;
	}
	if (begun)
		doubt_descriptor(s, begun);
	relieve(s, lane);
	note_progress(lane, now);
	look_later(lane, now);
}

void ferry__relief_collect(struct scheduler *s)
{
	struct ring **link = &s->held_up, *ring;

	while ((ring = *link)) {
		ferry__ring_collect(ring, &s->ready);
		if (ring_calls(ring)) {
			link = &ring->next;
			continue;
		}
		*link = ring->next;
		ferry__ring_close(ring);
		free(ring);
	}
}

/* ---- after a fork ---- */

/* A bell that is cancelled counts as rung, because it is collected. */
static void cancel(struct scheduler *s, const struct ring *ring)
{
	unsigned int i;
	struct ferry_entry *entry;

	for (i = ring->head; i != ring->tail; i++) {
		entry = &ring->entry[i % RING];
		if (!ring->waiter[i % RING] || entry->status != FERRY_ENTRY_FREE)
			continue;
		entry->result = -ECANCELED;
		entry->status = FERRY_ENTRY_DONE;
		if (!ring->waiter[i % RING]->lane)
			s->bell.rung++;
	}
}

void ferry__cancel_calls(struct scheduler *s)
{
	const struct ring *ring;
	unsigned int i;

	for (i = 0; i < s->lanes; i++)
		cancel(s, &s->lane[i].ring);
	for (ring = s->held_up; ring; ring = ring->next)
		cancel(s, ring);
}

// SPDX-License-Identifier: MIT
#include "idle.h"

#include <stdlib.h>

#include "flexsc.h"
#include "futex.h"
#include "scheduler.h"
#include "spin.h"

/* ---- calls that a blocked runner holds up ---- */

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

static void move_withdrawn(struct ring *from, struct lane *lane)
{
	unsigned int i, index;

	for (i = from->head; i != from->tail; i++) {
		index = i % RING;
		if (__atomic_load_n(&from->entry[index].status, __ATOMIC_RELAXED) !=
		    FERRY_ENTRY_FREE)
			continue;
		post_again(lane, &from->entry[index], from->waiter[index]);
		from->waiter[index] = NULL;
	}
}

/* Gives the lane another runner.  If there is none, the calls stay where they are. */
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
	lane->room += (int)ring_calls(old);
	withdraw(old);
	move_withdrawn(old, lane);
	old->next = s->held_up;
	s->held_up = old;
	ferry__lane_post_pending(lane);
}

/* Whether calls wait that the runner has not begun. */
static bool is_waited_behind(const struct lane *lane)
{
	unsigned int calls = ring_calls(&lane->ring);

	return calls > 1 || (calls && !entry_is_begun(ring_oldest(&lane->ring)));
}

/* Whether the lane has made no progress for HELD_UP_NS. */
static bool stands_still(struct lane *lane, long now)
{
	if (!is_waited_behind(lane) || lane->still_head != lane->ring.head || !lane->still_since) {
		lane->still_head = lane->ring.head;
		lane->still_since = now;
		return false;
	}
	return now - lane->still_since >= HELD_UP_NS;
}

/* Makes the threads ready whose calls are done. */
static void collect_done(struct scheduler *s, struct ring *ring)
{
	struct ferry_thread *waiter;

	for (; ring_calls(ring); ring->head++) {
		waiter = ring->waiter[ring->head % RING];
		if (!waiter)
			continue;
		if (!entry_is_done(ring_oldest(ring)))
			return;
		waiter->result = ring_oldest(ring)->result;
		thread_note_times(waiter, ring_oldest(ring));
		__atomic_store_n(&ring_oldest(ring)->status, FERRY_ENTRY_FREE, __ATOMIC_RELAXED);
		queue_put(&s->ready, waiter);
	}
}

static void collect_held_up(struct scheduler *s)
{
	struct ring **link = &s->held_up, *ring;

	while ((ring = *link)) {
		collect_done(s, ring);
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

static void cancel(const struct ring *ring)
{
	unsigned int i;
	struct ferry_entry *entry;

	for (i = ring->head; i != ring->tail; i++) {
		entry = &ring->entry[i % RING];
		if (entry->status != FERRY_ENTRY_FREE)
			continue;
		entry->result = -ECANCELED;
		entry->status = FERRY_ENTRY_DONE;
	}
}

/* In a child, the calls that the parent's runners had are lost. */
static void cancel_in_child(struct scheduler *s)
{
	const struct ring *ring;
	unsigned int i;

	for (i = 0; i < s->lanes; i++)
		if (set_is_wiped(s->lane[i].ring.runner->set))
			cancel(&s->lane[i].ring);
	for (ring = s->held_up; ring; ring = ring->next)
		if (set_is_wiped(ring->runner->set))
			cancel(ring);
}

/* ---- waiting ---- */

#define PATIENT_STEPS 64

void ferry__look_around(struct scheduler *s)
{
	long now = clock_ns();
	struct ferry_thread *thread;
	unsigned int i;

	while ((thread = ferry__sleepers_take(&s->sleepers, now)))
		queue_put(&s->ready, thread);
	collect_held_up(s);
	for (i = 0; i < s->lanes; i++)
		if (stands_still(&s->lane[i], now))
			relieve(s, &s->lane[i]);
}

/* Whether the oldest call of some lane is done; if PATIENT, half of its calls. */
static bool has_news(const struct scheduler *s, bool patient)
{
	const struct ring *ring;
	unsigned int i, calls;

	for (i = 0; i < s->lanes; i++) {
		ring = &s->lane[i].ring;
		calls = ring_calls(ring);
		if (calls && entry_is_done(ring_behind(ring, patient ? calls / 2 : 0)))
			return true;
	}
	return s->ready.first;
}

/*
 * Patient at first: reading the entry that the runner is about to write moves its cache line
 * back and forth, and collecting half of the calls at a time costs less per call.
 */
static bool spin(const struct scheduler *s)
{
	long start = 0;
	unsigned int steps;

	for (steps = 1; !has_news(s, steps < PATIENT_STEPS); steps++) {
		pause_briefly();
		if (steps % 16)
			continue;
		if (!start)
			start = clock_ns();
		if (clock_ns() - start >= s->flexsc->spin_ns)
			return has_news(s, false);
	}
	return true;
}

/* Stores the oldest calls under way, which are the ones to wait for; returns how many. */
static unsigned int oldest_calls(struct scheduler *s, struct ferry_entry *entries[])
{
	unsigned int i, count = 0;
	const struct ring *ring;

	for (i = 0; i < s->lanes; i++)
		if (ring_calls(&s->lane[i].ring))
			entries[count++] = ring_oldest(&s->lane[i].ring);
	for (ring = s->held_up; ring && count < MAX_WAITED; ring = ring->next)
		entries[count++] = ring_oldest(ring);
	return count;
}

/* The time until a sleeper has to wake, or a runner may have to be replaced. */
static long longest_sleep(const struct scheduler *s)
{
	long timeout = NO_TIMEOUT, left;
	unsigned int i;

	for (i = 0; i < s->lanes; i++)
		if (is_waited_behind(&s->lane[i]))
			timeout = HELD_UP_NS;
	if (!s->sleepers.count)
		return timeout;
	left = s->sleepers.heap[0].until - clock_ns();
	if (left < 0)
		left = 0;
	return timeout == NO_TIMEOUT || left < timeout ? left : timeout;
}

static void sleep_until_news(struct scheduler *s)
{
	struct ferry_entry *entries[MAX_WAITED];
	unsigned int *words[MAX_WAITED], none = 0, i, count = oldest_calls(s, entries);
	bool sleep = true;

	for (i = 0; i < count; i++) {
		sleep &= ferry__entry_expect_wake(entries[i], s->flexsc->flags);
		words[i] = &entries[i]->status;
	}
	if (sleep && count)
		ferry__futex_wait_any(words, count, FERRY_ENTRY_SUBMITTED, longest_sleep(s));
	else if (sleep)
		ferry__futex_wait(&none, 0, longest_sleep(s));
	for (i = 0; i < count; i++)
		ferry__entry_expect_none(entries[i]);
}

void ferry__idle(struct scheduler *s)
{
	if (spin(s))
		return;
	cancel_in_child(s);
	ferry__look_around(s);
	if (!has_news(s, false))
		sleep_until_news(s);
	ferry__look_around(s);
}

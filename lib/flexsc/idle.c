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

static bool is_free(const struct ferry_entry *entry)
{
	return __atomic_load_n(&entry->status, __ATOMIC_RELAXED) == FERRY_ENTRY_FREE;
}

static void move_withdrawn(struct ring *from, struct lane *lane)
{
	unsigned int i, index;

	for (i = from->head; i != from->tail; i++) {
		index = i % RING;
		if (!from->waiter[index] || !is_free(&from->entry[index]))
			continue;
		post_again(lane, &from->entry[index], from->waiter[index]);
		ring_leave_hole(from, index);
	}
}

/*
 * Gives the lane another runner.  If there is none, the calls stay where they are and it is tried
 * again HELD_UP_NS later.
 */
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
	/* Of those that were not withdrawn, all but the one that blocks are done. */
	ferry__ring_collect(old, &s->ready);
	old->next = s->held_up;
	s->held_up = old;
	ferry__lane_post_pending(lane);
}

/* Whether calls wait that the runner has not begun. */
static bool is_waited_behind(const struct lane *lane)
{
	unsigned int calls = ring_under_way(&lane->ring);

	return calls > 1 || lane->full.first ||
	       (calls && !entry_is_begun(ring_oldest(&lane->ring)));
}

static bool has_progressed(const struct lane *lane)
{
	return lane->progress != ring_progress(&lane->ring) || !lane->still_since;
}

static void note_progress(struct lane *lane, long now)
{
	lane->progress = ring_progress(&lane->ring);
	lane->still_since = now;
}

/*
 * While the oldest call changes, its successors are collected in their turn; looking at all of
 * them would take their cache lines from the runner.
 */
static void look_at(struct scheduler *s, struct lane *lane, long now)
{
	if (!has_progressed(lane))
		ferry__lane_collect_all(lane, &s->ready);
	if (has_progressed(lane) || !is_waited_behind(lane)) {
		note_progress(lane, now);
		return;
	}
	if (now - lane->still_since < HELD_UP_NS)
		return;
	relieve(s, lane);
	note_progress(lane, now);
}

static void collect_all(struct scheduler *s)
{
	unsigned int i;

	for (i = 0; i < s->lanes; i++)
		ferry__lane_collect_all(&s->lane[i], &s->ready);
}

static void collect_held_up(struct scheduler *s)
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

static void cancel(const struct ring *ring)
{
	unsigned int i;
	struct ferry_entry *entry;

	for (i = ring->head; i != ring->tail; i++) {
		entry = &ring->entry[i % RING];
		if (!ring->waiter[i % RING] || entry->status != FERRY_ENTRY_FREE)
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

/* Those that were posted first.  lane_collect() may put another call in an entry it has freed. */
static void collect_oldest(struct scheduler *s, struct lane *lane)
{
	unsigned int calls = ring_calls(&lane->ring);
	struct ferry_thread *thread;

	while (calls-- && (thread = lane_collect(lane)))
		queue_put(&s->ready, thread);
}

/*
 * They have waited long enough, so they come first.  If they are due again at once, one other
 * thread still runs before the next look.
 */
static void wake_sleepers(struct scheduler *s, long now)
{
	struct ferry_thread *thread;
	struct queue due = { 0 };
	int count = 0;

	while ((thread = ferry__sleepers_take(&s->sleepers, now))) {
		thread->timed_out = true;
		queue_put(&due, thread);
		count++;
	}
	queue_put_first(&s->ready, &due);
	if (s->left <= count)
		s->left = count + 1;
}

void ferry__look_around(struct scheduler *s, long now)
{
	unsigned int i;

	cancel_in_child(s);
	wake_sleepers(s, now);
	collect_held_up(s);
	for (i = 0; i < s->lanes; i++)
		collect_oldest(s, &s->lane[i]);
	for (i = 0; i < s->lanes; i++)
		look_at(s, &s->lane[i], now);
}

/* Whether the oldest call of some lane is done; if PATIENT, half of its calls. */
static bool has_news(const struct scheduler *s, bool patient)
{
	const struct ring *ring;
	unsigned int i, calls;

	for (i = 0; i < s->lanes; i++) {
		ring = &s->lane[i].ring;
		calls = ring_calls(ring);
		if (calls && entry_is_over(ring_behind(ring, patient ? calls / 2 : 0)))
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

/* The call that the runner is in, or NULL. */
static struct ferry_entry *begun_call(const struct ring *ring)
{
	struct ferry_entry *entry;
	unsigned int i;

	for (i = 0; i < ring_calls(ring); i++) {
		entry = ring_behind(ring, i);
		if (ring->waiter[(ring->head + i) % RING] && entry_is_begun(entry))
			return entry;
	}
	return NULL;
}

/* The calls to wait for. */
struct waited {
	struct ferry_entry *entry[MAX_WAITED];
	unsigned int count;
	bool all; /* no runner is left out */
};

/*
 * Adds the call that the runner is in, and the oldest one, which is most likely the next.  If the
 * runner takes another one next, that is noticed when is_waited_behind() ends the sleep.
 */
static void wait_for_lane(struct waited *waited, const struct ring *ring)
{
	struct ferry_entry *begun = begun_call(ring);

	if (!ring_calls(ring))
		return;
	waited->entry[waited->count++] = ring_oldest(ring);
	if (begun && begun != ring_oldest(ring))
		waited->entry[waited->count++] = begun;
}

static void choose_waited(const struct scheduler *s, struct waited *waited)
{
	const struct ring *ring;
	unsigned int i;

	_Static_assert(2 * FERRY_FLEXSC_MAX_RUNNERS <= MAX_WAITED, "all lanes fit");
	waited->count = 0;
	for (i = 0; i < s->lanes; i++)
		wait_for_lane(waited, &s->lane[i].ring);
	for (ring = s->held_up; ring && waited->count < MAX_WAITED; ring = ring->next)
		waited->entry[waited->count++] = ring_oldest(ring);
	waited->all = !ring;
}

/* The time until a sleeper has to wake, or lanes and held-up calls have to be looked at. */
static long longest_sleep(const struct scheduler *s, bool waits_for_all)
{
	long timeout = waits_for_all ? NO_TIMEOUT : HELD_UP_NS, left;
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
	unsigned int *words[MAX_WAITED], none = 0, i;
	struct waited waited;

	choose_waited(s, &waited);
	if (!waited.count) {
		ferry__futex_wait(&none, 0, longest_sleep(s, true));
		return;
	}
	for (i = 0; i < waited.count; i++)
		words[i] = &waited.entry[i]->status;
	if (ferry__entries_expect_wake(waited.entry, waited.count, s->flexsc->flags))
		ferry__futex_wait_any(words, waited.count, FERRY_ENTRY_SUBMITTED,
				      longest_sleep(s, waited.all));
	for (i = 0; i < waited.count; i++)
		ferry__entry_expect_none(waited.entry[i]);
}

void ferry__idle(struct scheduler *s)
{
	if (spin(s))
		return;
	collect_all(s);
	ferry__look_around(s, clock_ns());
	if (!has_news(s, false)) {
		sleep_until_news(s);
		collect_all(s);
	}
	ferry__look_around(s, clock_ns());
}

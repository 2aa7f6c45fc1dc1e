// SPDX-License-Identifier: MIT
#include "idle.h"

#include "flexsc.h"
#include "relief.h"
#include "scheduler.h"
#include "spin.h"

#define PATIENT_STEPS 64

/* How often calls are checked when there is no room for a bell. */
#define WITHOUT_BELL_NS 1000000L

/* How long events of descriptors may be overlooked under load. */
#define POLL_NS 1000000L

/* How long to look for events before a sleep: at most, and what is not worth a look. */
#define MOST_EVENT_SPIN_NS 50000L
#define LEAST_EVENT_SPIN_NS 1000L

/*
 * Short sleeps from one trial of looking to the next.  If what causes the events needs this CPU,
 * looking only delays it, and a trial takes twice MOST_EVENT_SPIN_NS.
 */
#define SLEEPS_TO_TRIAL 256

/* ---- looking around ---- */

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
	if (!count)
		return;
	s->left = count + 1;
	s->gives_turns = true;
}

/* Those that were posted first.  lane_collect() may put another call in an entry it has freed. */
static void collect_oldest(struct scheduler *s, struct lane *lane)
{
	unsigned int calls = ring_calls(&lane->ring);
	struct ferry_thread *thread;

	while (calls-- && (thread = lane_collect(lane)))
		queue_put(&s->ready, thread);
}

static void look_at_calls(struct scheduler *s, long now)
{
	unsigned int i;

	ferry__relief_collect(s);
	for (i = 0; i < s->lanes; i++) {
		collect_oldest(s, &s->lane[i]);
		ferry__relieve_if_blocked(s, &s->lane[i], now);
	}
}

/* Posts on a single CPU leave the runners asleep. */
static void rouse_runners(const struct scheduler *s)
{
	const struct ring *ring;
	unsigned int i;

	if (!s->flexsc->has_one_cpu)
		return;
	for (i = 0; i < s->lanes; i++) {
		ring = &s->lane[i].ring;
		if (!ring_calls(ring))
			continue;
		set_light_fence(ring->runner->set->flags);
		ferry__set_wake_runner(ring->runner->set);
	}
}

void ferry__look_around(struct scheduler *s, long now)
{
	wake_sleepers(s, now);
	look_at_calls(s, now);
	rouse_runners(s);
	/* While other threads can run, events are fetched many at a time. */
	if (!s->poller.waiting || (s->ready.first && now - s->poller.looked_ns < POLL_NS))
		return;
	s->poller.looked_ns = now;
	ferry__poller_look(s, 0);
	ferry__poller_check(s, now);
}

/* ---- waiting for the runners ---- */

static bool has_calls(const struct scheduler *s)
{
	unsigned int i;

	for (i = 0; i < s->lanes; i++)
		if (ring_calls(&s->lane[i].ring))
			return true;
	return false;
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

static void collect_all(struct scheduler *s)
{
	unsigned int i;

	for (i = 0; i < s->lanes; i++)
		ferry__lane_collect_all(&s->lane[i], &s->ready);
}

/* ---- sleeping ---- */

/*
 * Has each runner with calls ring when it has made them.  False if there is no entry for that, or
 * if one of the bells has rung but is not DONE: it will not ring again.
 */
static bool post_bells(struct scheduler *s)
{
	struct ring *ring;
	bool all = s->bell.rung <= 0;
	unsigned int i;

	for (i = 0; i < s->lanes; i++)
		if (ring_calls(&s->lane[i].ring))
			all &= ferry__lane_post_bell(&s->lane[i], &s->bell);
	for (ring = s->held_up; ring; ring = ring->next)
		all &= ferry__ring_post_bell(ring, &s->bell);
	return all;
}

static long earlier(long one, long other)
{
	return one < other ? one : other;
}

/* When to look around again even if nothing has happened. */
static long next_look(const struct scheduler *s)
{
	long next = ferry__poller_next_check(&s->poller);
	unsigned int i;

	if (s->sleepers.count)
		next = earlier(next, s->sleepers.heap[0].until);
	for (i = 0; i < s->lanes; i++)
		if (ferry__is_waited_behind(&s->lane[i]))
			next = earlier(next, s->lane[i].look_at);
	return next;
}

static void sleep_until_news(struct scheduler *s)
{
	bool all = post_bells(s);
	long next = next_look(s), now;

	rouse_runners(s);
	if (next == LONG_MAX && all) {
		ferry__poller_look(s, -1);
		return;
	}
	now = clock_ns();
	if (!all)
		next = earlier(next, now + WITHOUT_BELL_NS);
	ferry__poller_look(s, next > now ? next - now : 0);
}

static long most_spin_ns(const struct scheduler *s)
{
	return earlier(s->flexsc->spin_ns, MOST_EVENT_SPIN_NS);
}

/* Looks for events from *NOW, which it updates, to the present limit.  True: a thread can run. */
static bool spin_for_events(struct scheduler *s, long *now)
{
	struct poller *p = &s->poller;
	long end = *now + p->spin_ns;

	if (!p->waiting || p->spin_ns < LEAST_EVENT_SPIN_NS)
		return false;
	do {
		ferry__poller_look(s, 0);
		*now = clock_ns();
		if (s->ready.first) {
			p->spin_ns = most_spin_ns(s);
			return true;
		}
	} while (*now < end);
	p->spin_ns /= 2;
	return false;
}

/* Lets looking for events be tried where it might replace sleeps such as this one. */
static void note_sleep(struct scheduler *s, long slept_ns)
{
	struct poller *p = &s->poller;

	if (slept_ns >= most_spin_ns(s) || p->sleeps_to_trial--)
		return;
	p->sleeps_to_trial = SLEEPS_TO_TRIAL;
	p->spin_ns = most_spin_ns(s);
}

long ferry__idle(struct scheduler *s)
{
	long now, start;

	if (has_calls(s)) {
		if (spin(s))
			return 0;
		collect_all(s);
	}
	now = clock_ns();
	wake_sleepers(s, now);
	look_at_calls(s, now);
	if (s->ready.first || has_news(s, false))
		return 0;
	if (!has_calls(s) && !s->held_up && spin_for_events(s, &now))
		return now;
	start = now;
	sleep_until_news(s);
	now = clock_ns();
	note_sleep(s, now - start);
	if (!s->ready.first) /* the time limit or a bell ended the sleep */
		ferry__look_around(s, now);
	return now;
}

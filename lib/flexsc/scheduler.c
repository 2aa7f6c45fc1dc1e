// SPDX-License-Identifier: MIT
/* Choosing the user-level thread that runs next. */
#include "scheduler.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "confinement.h"
#include "flexsc.h"
#include "idle.h"
#include "relief.h"
#include "spin.h"

_Thread_local struct scheduler *ferry__scheduler __attribute__((__tls_model__("initial-exec")));

/* How long threads that wait for time or for held-up calls may be overlooked under load. */
#define LOOK_NS 100000L

/* The same in ticks: 40 to 250 us on x86-64, whose processors count 0.8 to 5 GHz. */
#define LOOK_TICKS 200000UL

/* Switches from one glance at the ticks to the next, unless threads wait. */
#define GLANCE 64

/* Glances from one look to the next at most: turns may take next to no time. */
#define MOST_GLANCES 256

/* Calls closer to each other than this keep a runner awake, which is worth its CPU time. */
#define CLOSE_NS 2000L

/* A bell may have rung before the wait for it began, so no wait is longer than this. */
#define BELL_TIME_NS 1000000L

static int open_lanes(struct scheduler *new)
{
	unsigned int i, slots = new->flexsc->slots;
	int error;

	for (i = 0; i < slots; i++) {
		new->lane[i].next = &new->lane[(i + 1) % slots];
		error = ferry__lane_start(&new->lane[i], new->flexsc, i);
		if (error)
			return error;
		new->lanes++;
	}
	new->turn = new->give = &new->lane[0];
	return 0;
}

static void close_lanes(struct scheduler *old)
{
	unsigned int i;

	for (i = 0; i < old->lanes; i++)
		ferry__ring_close(&old->lane[i].ring);
}

void ferry__scheduler_live_as_child(void)
{
	struct scheduler *s = ferry__scheduler;
	unsigned int i;

	if (!s)
		return;
	for (i = 0; i < s->lanes; i++)
		ferry__lane_choose_word(&s->lane[i], s->flexsc);
	ferry__cancel_calls(s);
	ferry__poller_restart(s);
	__atomic_store_n(&s->flexsc->users, 1, __ATOMIC_RELAXED);
}

/*
 * A call that never waits takes less time made here than a post that wakes a runner.  Only where
 * such calls follow each other closely are they posted: the runner, on another CPU, stays awake.
 */
static void set_eager(struct scheduler *s, bool eager)
{
	s->eager = eager;
	s->shortcut = eager ? s->limit : POST_NOTHING;
}

int ferry__scheduler_start(struct ferry_flexsc *flexsc)
{
	struct scheduler *new = calloc(1, sizeof(*new));
	int error;

	if (!new)
		return -ENOMEM;
	error = ferry__poller_start(new);
	if (error) {
		free(new);
		return error;
	}
	new->flexsc = flexsc;
	new->timed = flexsc->flags &FERRY_FLEXSC_TIMES;
	new->limit = ferry__posting_limit(flexsc);
	set_eager(new, flexsc->habit == POSTS_ALWAYS);
	new->posting = new->shortcut;
	new->checks_keys = ferry__has_keys && !flexsc->trusts && flexsc->place == IN_USER;
	new->key_rights = flexsc->key_rights;
	new->error = &errno;
	new->exceptions = exceptions_here();
	new->current = &new->main;
	new->main.lane = &new->lane[0];
	fiber_adopt(&new->main.fiber);
	error = open_lanes(new);
	if (error) {
		close_lanes(new);
		ferry__poller_end(new);
		free(new);
		return error;
	}
	__atomic_add_fetch(&flexsc->users, 1, __ATOMIC_RELAXED);
	ferry__scheduler = new;
	return 0;
}

/* All threads have ended, and so have their calls, but bells may still be under way. */
static void wait_for_bells(struct scheduler *old)
{
	unsigned int i;
	bool under_way;

	do {
		ferry__relief_collect(old);
		under_way = old->held_up;
		for (i = 0; i < old->lanes; i++) {
			ferry__lane_collect_all(&old->lane[i], &old->ready);
			under_way |= old->lane[i].ring.has_bell;
		}
		if (under_way)
			ferry__poller_look(old, BELL_TIME_NS);
	} while (under_way);
}

void ferry__scheduler_end(void)
{
	struct scheduler *old = ferry__scheduler;

	wait_for_bells(old);
	close_lanes(old);
	ferry__sleepers_free(&old->sleepers);
	ferry__poller_end(old);
	__atomic_sub_fetch(&old->flexsc->users, 1, __ATOMIC_RELEASE);
	ferry__scheduler = NULL;
	free(old);
}

/* A thread whose call is done; lanes take turns. */
static struct ferry_thread *collect_any(struct scheduler *s)
{
	struct ferry_thread *thread;
	unsigned int i;

	for (i = 0; i < s->lanes; i++) {
		/* A hole may be at the head. */
		if (FERRY_UNLIKELY(s->turn->ring.holes ||
				   entry_is_refused(ring_oldest(&s->turn->ring))))
			ferry__lane_collect_all(s->turn, &s->ready);
		thread = lane_collect(s->turn);
		s->turn = s->turn->next;
		if (thread)
			return thread;
	}
	return NULL;
}

/* Calls since the count began, and begins it anew at NOW. */
static unsigned int count_calls(struct scheduler *s, long now)
{
	unsigned int calls = s->made, i, tail;

	s->made = 0;
	s->counted_ns = now;
	for (i = 0; i < s->lanes; i++) {
		tail = s->lane[i].ring.tail;
		calls += tail - s->lane[i].counted;
		s->lane[i].counted = tail;
	}
	return calls;
}

static void adapt_posting(struct scheduler *s, long now)
{
	long took = now - s->counted_ns;

	if (s->flexsc->habit == POSTS_IF_CLOSE && took >= LOOK_NS / 2)
		set_eager(s, count_calls(s, now) * CLOSE_NS > took);
}

static bool someone_waits(const struct scheduler *s)
{
	return s->sleepers.count || s->poller.waiting || s->held_up;
}

static void glance_later(struct scheduler *s)
{
	s->left = someone_waits(s) ? 1 : GLANCE;
	s->gives_turns = false;
}

/* A sleep says nothing about the load: counting begins anew at NOW. */
static void begin_anew(struct scheduler *s, long now)
{
	count_calls(s, now);
	if (s->flexsc->habit == POSTS_IF_CLOSE)
		set_eager(s, false);
	s->looked_ns = now;
	s->looked_ticks = ticks();
	glance_later(s);
}

/*
 * Looks around, unless it was done just now; returns whether it did.  Between two looks, ready
 * threads come before those whose call is done.  Ticks are read sooner than the clock.
 */
static bool glance(struct scheduler *s)
{
	unsigned long now = ticks();

	glance_later(s);
	if (now - s->looked_ticks < LOOK_TICKS && ++s->glances < MOST_GLANCES)
		return false;
	s->looked_ticks = now;
	s->glances = 0;
	s->looked_ns = clock_ns();
	adapt_posting(s, s->looked_ns);
	ferry__look_around(s, s->looked_ns);
	return true;
}

struct ferry_thread *ferry__scheduler_pick(struct scheduler *s)
{
	struct ferry_thread *thread;
	long slept;

	for (;;) {
		if (s->left <= 0)
			glance(s);
		s->left--;
		if (s->ready.first)
			return queue_take(&s->ready);
		thread = collect_any(s);
		if (thread)
			return thread;
		slept = ferry__idle(s);
		if (slept)
			begin_anew(s, slept);
	}
}

void ferry__scheduler_wait(struct scheduler *s)
{
	scheduler_switch(s, ferry__scheduler_pick(s), false);
}

bool ferry__scheduler_wait_until(struct scheduler *s, long until)
{
	struct ferry_thread *self = s->current;

	self->timed_out = false;
	scheduler_hurry(s);
	if (until != LONG_MAX && ferry__sleepers_add(&s->sleepers, self, until))
		return false;
	ferry__scheduler_wait(s);
	return !self->timed_out;
}

void ferry__scheduler_took_turn(struct scheduler *s)
{
	if (--s->left > 0 && (s->gives_turns || !s->ready.first))
		return;
	if (!glance(s) || !s->ready.first)
		return;
	queue_put(&s->ready, s->current);
	ferry__scheduler_wait(s);
}

bool ferry__scheduler_is_alone(const struct scheduler *s)
{
	unsigned int i;

	if (s->ready.first || s->held_up)
		return false;
	for (i = 0; i < s->lanes; i++)
		if (ring_calls(&s->lane[i].ring))
			return false;
	return true;
}

void ferry__scheduler_leave(struct scheduler *s)
{
	scheduler_switch(s, ferry__scheduler_pick(s), true);
	__builtin_unreachable();
}

// SPDX-License-Identifier: MIT
/* Which user-level thread goes on, and switching to it. */
#include <stdlib.h>

#include "thread.h"

_Thread_local struct scheduler *scheduler __attribute__((__tls_model__("initial-exec")));

/* Far enough below 0 for all threads that memory has room for. */
#define TIMED_ROOM (-1000000000)

/* So often sleepers and held-up calls are looked at while there is other work. */
#define PICKS_PER_LOOK 256

int lane_open(struct lane *lane, struct ferry_flexsc *flexsc)
{
	static const unsigned int never = FERRY_RUNNER_ABSENT;
	int error = ring_open(&lane->ring, flexsc, lane->slot);

	if (error)
		return error;
	lane->runner = &lane->ring.runner->set->runner;
	if (flexsc->flags & FERRY_FLEXSC_FENCES)
		lane->runner = &never;
	return 0;
}

static int open_lanes(struct scheduler *new)
{
	unsigned int i, slots = new->flexsc->slots;
	int error;

	for (i = 0; i < slots; i++) {
		new->lane[i].slot = i;
		new->lane[i].next = &new->lane[(i + 1) % slots];
		new->lane[i].room = new->timed ? TIMED_ROOM : (int)RING;
		error = lane_open(&new->lane[i], new->flexsc);
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
		ring_close(&old->lane[i].ring);
}

int scheduler_start(struct ferry_flexsc *flexsc)
{
	struct scheduler *new = calloc(1, sizeof(*new));
	int error;

	if (!new)
		return -ENOMEM;
	new->flexsc = flexsc;
	new->timed = flexsc->flags &FERRY_FLEXSC_TIMES;
	new->current = &new->main;
	new->main.lane = &new->lane[0];
	fiber_adopt(&new->main.fiber);
	error = open_lanes(new);
	if (error) {
		close_lanes(new);
		free(new);
		return error;
	}
	__atomic_add_fetch(&flexsc->users, 1, __ATOMIC_RELAXED);
	scheduler = new;
	return 0;
}

void scheduler_end(void)
{
	struct scheduler *old = scheduler;
	struct ring *ring;

	scheduler = NULL;
	close_lanes(old);
	while ((ring = old->held_up)) {
		old->held_up = ring->next;
		ring_close(ring);
		free(ring);
	}
	sleepers_free(&old->sleepers);
	__atomic_sub_fetch(&old->flexsc->users, 1, __ATOMIC_RELEASE);
	free(old);
}

/* A thread whose call is done; lanes take turns. */
static struct ferry_thread *collect_any(struct scheduler *s)
{
	struct ferry_thread *thread;
	unsigned int i;

	for (i = 0; i < s->lanes; i++) {
		thread = lane_collect(s->turn);
		s->turn = s->turn->next;
		if (thread)
			return thread;
	}
	return NULL;
}

struct ferry_thread *scheduler_pick(struct scheduler *s)
{
	struct ferry_thread *thread;

	for (;;) {
		if (!(++s->picks % PICKS_PER_LOOK))
			scheduler_look_around(s);
		thread = collect_any(s);
		if (thread)
			return thread;
		if (s->ready.first)
			return queue_take(&s->ready);
		scheduler_idle(s);
	}
}

void scheduler_wait(struct scheduler *s)
{
	scheduler_switch(s, scheduler_pick(s), false);
}

void scheduler_leave(struct scheduler *s)
{
	scheduler_switch(s, scheduler_pick(s), true);
	__builtin_unreachable();
}

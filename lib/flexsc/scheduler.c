// SPDX-License-Identifier: MIT
/* Choosing the user-level thread that runs next. */
#include "scheduler.h"

#include <stdlib.h>

#include "flexsc.h"
#include "idle.h"

_Thread_local struct scheduler *ferry__scheduler __attribute__((__tls_model__("initial-exec")));

/* While there is other work, sleepers and held-up calls are looked at once in so many picks. */
#define PICKS_PER_LOOK 256

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

int ferry__scheduler_start(struct ferry_flexsc *flexsc)
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
	ferry__scheduler = new;
	return 0;
}

void ferry__scheduler_end(void)
{
	struct scheduler *old = ferry__scheduler;
	struct ring *ring;

	ferry__scheduler = NULL;
	close_lanes(old);
	while ((ring = old->held_up)) {
		old->held_up = ring->next;
		ferry__ring_close(ring);
		free(ring);
	}
	ferry__sleepers_free(&old->sleepers);
	__atomic_sub_fetch(&old->flexsc->users, 1, __ATOMIC_RELEASE);
	free(old);
}

/* A thread whose call is done; lanes take turns. */
static struct ferry_thread *collect_any(struct scheduler *s)
{
	struct ferry_thread *thread;
	unsigned int i;

	for (i = 0; i < s->lanes; i++) {
		if (FERRY_UNLIKELY(s->turn->ring.holes)) /* one may be at the head */
			ferry__lane_collect_all(s->turn, &s->ready);
		thread = lane_collect(s->turn);
		s->turn = s->turn->next;
		if (thread)
			return thread;
	}
	return NULL;
}

struct ferry_thread *ferry__scheduler_pick(struct scheduler *s)
{
	struct ferry_thread *thread;

	for (;;) {
		if (!(++s->picks % PICKS_PER_LOOK))
			ferry__look_around(s);
		thread = collect_any(s);
		if (thread)
			return thread;
		if (s->ready.first)
			return queue_take(&s->ready);
		ferry__idle(s);
	}
}

void ferry__scheduler_wait(struct scheduler *s)
{
	scheduler_switch(s, ferry__scheduler_pick(s), false);
}

void ferry__scheduler_leave(struct scheduler *s)
{
	scheduler_switch(s, ferry__scheduler_pick(s), true);
	__builtin_unreachable();
}

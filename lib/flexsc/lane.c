// SPDX-License-Identifier: MIT
/* The rare ways of a lane: opening rings, and calls that wait for an entry. */
#include "lane.h"

#include "flexsc.h"
#include "spin.h"

/* Far enough below 0 for all threads that memory has room for. */
#define TIMED_ROOM (-1000000000)

/* What a bell takes of the room, so that the short way does not meet it. */
#define BELL_ROOM 100000000

/* Where the runner would run instead of the caller, it is woken once the caller has to wait. */
static const unsigned int *word_of(const struct lane *lane, const struct ferry_flexsc *flexsc)
{
	static const unsigned int never = FERRY_RUNNER_ABSENT, always = FERRY_RUNNER_RUNNING;

	if (set_is_wiped(lane->ring.runner->set))
		return &never;
	if (flexsc->has_one_cpu)
		return &always;
	return flexsc->flags & FERRY_FLEXSC_FENCES ? &never : &lane->ring.runner->set->runner;
}

void ferry__lane_choose_word(struct lane *lane, const struct ferry_flexsc *flexsc)
{
	lane->runner = word_of(lane, flexsc);
}

int ferry__lane_open(struct lane *lane, struct ferry_flexsc *flexsc)
{
	int error = ferry__ring_open(&lane->ring, flexsc, lane->slot);

	if (error)
		return error;
	lane->counted = 0;
	ferry__lane_choose_word(lane, flexsc);
	return 0;
}

int ferry__lane_start(struct lane *lane, struct ferry_flexsc *flexsc, unsigned int slot)
{
	lane->slot = slot;
	lane->timed = flexsc->flags & FERRY_FLEXSC_TIMES;
	lane->room = lane->timed ? TIMED_ROOM : (int)RING;
	return ferry__lane_open(lane, flexsc);
}

void ferry__lane_post_pending(struct lane *lane)
{
	const struct ferry_entry *call;
	struct ferry_thread *thread;
	struct ferry_entry *entry;

	while (lane->full.first && ring_calls(&lane->ring) < RING) {
		thread = queue_take(&lane->full);
		call = thread->pending;
		entry = ring_claim(&lane->ring, thread);
		entry_fill(entry, call->nr, call->arg[0], call->arg[1], call->arg[2], call->arg[3],
			   call->arg[4], call->arg[5]);
		thread->times.posted = lane->timed ? clock_ns() : 0;
		lane_submit(lane, entry);
	}
}

bool ferry__lane_post_bell(struct lane *lane, struct bell *bell)
{
	if (lane->ring.has_bell)
		return true;
	if (!ferry__ring_post_bell(&lane->ring, bell))
		return false;
	lane->room -= BELL_ROOM + 1;
	return true;
}

void ferry__lane_leave(struct lane *lane, const struct ring *old)
{
	lane->room += (int)ring_calls(old) + (old->has_bell ? BELL_ROOM : 0);
}

struct ferry_thread *ferry__lane_collect_slowly(struct lane *lane, struct ferry_thread *thread,
						const struct ferry_entry *entry)
{
	if (ring_collect_bell(&lane->ring, thread)) {
		lane->room += BELL_ROOM;
		thread = NULL;
	} else {
		thread_note_times(thread, entry);
	}
	ferry__lane_post_pending(lane);
	return thread;
}

void ferry__lane_collect_all(struct lane *lane, struct queue *ready)
{
	unsigned int head = lane->ring.head;
	bool had_bell = lane->ring.has_bell;

	ferry__ring_collect(&lane->ring, ready);
	lane->room += (int)(lane->ring.head - head);
	if (had_bell && !lane->ring.has_bell)
		lane->room += BELL_ROOM;
	ferry__lane_post_pending(lane);
}

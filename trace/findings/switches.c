// SPDX-License-Identifier: MIT
/* Threads that sleep for moments: the kernel switches to another and back each time. */
#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#include "../hash.h"
#include "../shapes.h"
#include "common/memory.h"
#include "evidence.h"

static const char kind[] = "switches";

#define MOMENT 200e3	    /* ns */
#define CONNECTIONS 8	    /* threads that read from sockets: a thread for each connection */
#define LEFT_BY_THREADS 0.5 /* of the sleeps: ferry-threads(1) */

/* Of the first 64 threads. */
struct readers {
	pid_t threads[64];
	size_t count;
};

static bool is_poll(int nr)
{
#ifdef SYS_poll
	return nr == SYS_poll;
#else
	return false;
#endif
}

static bool receives(const struct traced_call *call)
{
	if (call->nr == SYS_read && call->file && strncmp(call->file, "socket:", 7) != 0)
		return false;
	return call->nr == SYS_read || call->nr == SYS_recvfrom || call->nr == SYS_recvmsg ||
	       call->nr == SYS_ppoll || is_poll(call->nr);
}

static void note_reader(struct readers *readers, pid_t thread)
{
	size_t k;

	for (k = 0; k < readers->count; k++)
		if (readers->threads[k] == thread)
			return;
	if (k < 64)
		readers->threads[readers->count++] = thread;
}

/* Sleeps for a moment, in the calls of one number for one file. */
static bool is_moment(const struct traced_call *call)
{
	return call->waited_ns > 0 && call->waited_ns < MOMENT;
}

/* What a thread sleeps on: both ends of a pipe have one identity, and so has a futex. */
static uint64_t key_of(const struct traced_call *call)
{
	if (call->nr == SYS_futex)
		return hash_number(call->args[0], (uint64_t)call->process);
	return call->file_id;
}

/* An event loop sleeps for its clients, which are others' threads. */
static bool has_two_threads(const struct member *first, size_t size)
{
	size_t i;

	for (i = 1; i < size; i++)
		if (first[i].seen->call->thread != first->seen->call->thread)
			return true;
	return false;
}

/* All calls for what threads sleep on for moments: with one thread, none of them is needed. */
static struct tally calls_between_threads(const struct evidence *evidence)
{
	struct groups groups = { 0 };
	struct tally all = { 0 };
	size_t i, k, size;

	for (i = 0; i < evidence->count; i++)
		if (key_of(evidence->of[i].call))
			groups_add(&groups, key_of(evidence->of[i].call), &evidence->of[i]);
	groups_sort(&groups);
	for (i = 0; i < groups.count; i += size) {
		size_t moments = 0;

		size = group_size(&groups, i);
		for (k = i; k < i + size; k++)
			moments += is_moment(groups.of[k].seen->call);
		if (moments <= size / 8 || !has_two_threads(&groups.of[i], size))
			continue;
		for (k = i; k < i + size; k++)
			if (!groups.of[k].seen->claimed)
				claim(&all, groups.of[k].seen, kind);
	}
	groups_free(&groups);
	return all;
}

struct sleeps {
	double all, moments;
};

/* The kernel counts all sleeps; the sample says which of them were short. */
static struct sleeps count_sleeps(const struct evidence *evidence, struct readers *readers)
{
	double sleeps = 0, moments = 0, scale;
	size_t i;

	for (i = 0; i < evidence->count; i++) {
		const struct seen_call *seen = &evidence->of[i];

		if (!(seen->call->waited_ns > 0))
			continue;
		sleeps += seen->calls;
		moments += is_moment(seen->call) ? seen->calls : 0;
		if (receives(seen->call))
			note_reader(readers, seen->call->thread);
	}
	scale = sleeps ? fmax(evidence->collected->switches, sleeps) / sleeps : 0;
	return (struct sleeps){ sleeps * scale, moments * scale };
}

static struct figure cost_by_switch(const struct evidence *evidence, double switches)
{
	const struct figure turn = evidence->costs->turn;

	return (struct figure){ switches * turn.value,
				switches * hypot(turn.error, turn.value * 0.25) };
}

/* A thread for each connection sleeps as long as its client thinks, and is switched each time. */
static struct finding finding_of_connections(const struct evidence *evidence, double sleeps)
{
	const struct figure cost = cost_by_switch(evidence, sleeps);

	return (struct finding){
		.kind = kind,
		.what = keep_text("%s, one for each connection, go to sleep %.0f times",
				  counted((double)evidence->collected->threads, "thread"), sleeps),
		.cure = "ferry threads, while many of them are at work,",
		.calls = sleeps,
		.cost = cost,
		.saved = { cost.value * (1 - LEFT_BY_THREADS), cost.error },
	};
}

static struct finding finding_of_turns(struct evidence *evidence, double moments)
{
	const struct tally calls = calls_between_threads(evidence);
	struct finding finding = {
		.kind = kind,
		.what = keep_text("%s sleep for moments %.0f times, and wake each other",
				  counted((double)evidence->collected->threads, "thread"), moments),
		.cure = "doing the work of both sides in one thread",
		.calls = moments,
		.cost = cost_of_tally(evidence, &calls),
	};

	finding.saved = finding.cost;
	finding.saved.error = hypot(finding.saved.error, finding.saved.value * 0.25);
	add_code_between(evidence, &finding);
	return finding;
}

void find_switches(struct evidence *evidence)
{
	struct readers readers = { 0 };
	const struct sleeps sleeps = count_sleeps(evidence, &readers);

	if (evidence->collected->threads < 2)
		return;
	if (readers.count >= CONNECTIONS)
		add_finding(evidence, finding_of_connections(evidence, sleeps.all));
	else if (sleeps.moments >= 1)
		add_finding(evidence, finding_of_turns(evidence, sleeps.moments));
}

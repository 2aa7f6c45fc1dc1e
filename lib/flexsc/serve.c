// SPDX-License-Identifier: MIT
/*
 * The runner's loop.  <linux/flexsc.h> names the pairs of stores and loads that the
 * fences here keep in order.
 */
#include "serve.h"

#include "direct.h"
#include "futex.h"
#include "set.h"
#include "spin.h"

/* Steps without work between two looks at the clock and at all entries. */
#define IDLE_STEPS 16

/* A spin limit that did not pay is halved, down to this part of spin_ns. */
#define LEAST_SPIN 16

/* How long a spare runner stays. */
#define SPARE_NS 500000000L

struct server {
	struct flexsc_set *set;
	unsigned int mask;     /* of entry indexes */
	unsigned int flags;    /* the set's */
	int limit;	       /* of enum call_who: what it makes */
	unsigned int position; /* where the next call is expected */
	unsigned int steps;    /* without work */
	long idle_since;       /* ns; 0: not measured yet */
	long spin_ns;	       /* the limit now */
	const bool *is_spare;
	bool is_idle; /* has had nothing to do for SPARE_NS */
};

static struct flexsc_entry *entry_at(const struct server *server, unsigned int offset)
{
	return &server->set->entry[(server->position + offset) & server->mask];
}

static bool is_submitted(const struct flexsc_entry *entry)
{
	return __atomic_load_n(&entry->status, __ATOMIC_ACQUIRE) == FLEXSC_ENTRY_SUBMITTED;
}

/* The next call, at the position if there is one, else the first behind it in the circle. */
static struct flexsc_entry *find(struct server *server)
{
	unsigned int offset;

	if (FERRY_LIKELY(is_submitted(entry_at(server, 0))))
		return entry_at(server, 0);
	if (server->steps % IDLE_STEPS)
		return NULL;
	for (offset = 1; offset <= server->mask; offset++)
		if (is_submitted(entry_at(server, offset))) {
			server->position += offset;
			return entry_at(server, 0);
		}
	return NULL;
}

/* Takes the call.  False if the gate is closed or the call was withdrawn. */
static bool take(struct server *server, struct flexsc_entry *entry)
{
	__atomic_store_n(&entry->begun, FLEXSC_BEGUN, __ATOMIC_RELAXED);
	set_light_fence(server->flags);
	if (FERRY_LIKELY(__atomic_load_n(&server->set->gate, __ATOMIC_ACQUIRE) ==
				 FLEXSC_GATE_OPEN &&
			 is_submitted(entry)))
		return true;
	__atomic_store_n(&entry->begun, 0, __ATOMIC_RELAXED);
	return false;
}

static void finish(const struct server *server, struct flexsc_entry *entry, unsigned int status)
{
	__atomic_store_n(&entry->status, status, __ATOMIC_RELEASE);
	/* After DONE: a thread that withdraws and finds begun 0 then finds DONE. */
	__atomic_store_n(&entry->begun, 0, __ATOMIC_RELEASE);
	set_light_fence(server->flags);
	if (FERRY_UNLIKELY(__atomic_load_n(&entry->argc, __ATOMIC_RELAXED) & FLEXSC_ARGC_WAITED))
		ferry__futex_wake_all(&entry->status);
}

static void complete(const struct server *server, struct flexsc_entry *entry, long result)
{
	entry->result = result;
	finish(server, entry, FLEXSC_ENTRY_DONE);
}

static bool may_make(const struct server *server, const struct flexsc_entry *entry)
{
	if (FERRY_LIKELY(server->limit == ALIKE_RUNNER))
		return true;
	if (entry->nr == FERRY_NR_BATCH) {
		const struct batch_args *args = (const struct batch_args *)entry->arg[0];

		return ferry__batch_may_be_posted((const struct batch_slot *)args->calls,
						  args->ncall, server->limit);
	}
	return may_be_posted(entry->nr, server->limit);
}

static void run(struct server *server, struct flexsc_entry *entry)
{
	if (FERRY_LIKELY(may_make(server, entry)))
		complete(server, entry, ferry__entry_run(entry));
	else
		finish(server, entry, FLEXSC_ENTRY_REFUSED);
	server->position++;
	server->steps = 1; /* the next post is likely to be about to come */
	server->idle_since = 0;
}

static bool must_stop(const struct server *server)
{
	return __atomic_load_n(&server->set->gate, __ATOMIC_ACQUIRE) == FLEXSC_GATE_STOP;
}

static bool has_work(const struct server *server)
{
	unsigned int offset;

	for (offset = 0; offset <= server->mask; offset++)
		if (is_submitted(entry_at(server, offset)))
			return true;
	return must_stop(server);
}

/* Spinning through a short gap would have avoided the sleep; through a long one it is wasted. */
static void adapt(struct server *server, long gap_ns)
{
	long most = (long)server->set->spin_ns;

	if (gap_ns < most)
		server->spin_ns = most;
	else if (server->spin_ns > most / LEAST_SPIN)
		server->spin_ns /= 2;
}

static void sleep_until_posted(struct server *server)
{
	unsigned int *word = &server->set->runner;
	long gap_ns;
	bool spare;

	__atomic_store_n(word, FLEXSC_RUNNER_ASLEEP, __ATOMIC_RELAXED);
	ferry__set_heavy_fence(server->flags);
	if (!has_work(server)) {
		spare = __atomic_load_n(server->is_spare, __ATOMIC_RELAXED);
		ferry__futex_wait(word, FLEXSC_RUNNER_ASLEEP, spare ? SPARE_NS : NO_TIMEOUT);
		gap_ns = clock_ns() - server->idle_since;
		adapt(server, gap_ns);
		server->is_idle = spare && gap_ns >= SPARE_NS;
	}
	__atomic_store_n(word, FLEXSC_RUNNER_RUNNING, __ATOMIC_RELAXED);
	server->steps = 0;
	server->idle_since = 0;
}

static void idle(struct server *server)
{
	long now;

	pause_briefly();
	if (++server->steps % IDLE_STEPS && server->spin_ns)
		return;
	now = clock_ns();
	if (!server->idle_since)
		server->idle_since = now;
	if (now - server->idle_since >= server->spin_ns)
		sleep_until_posted(server);
}

/* The result of a call in the middle of which the kernel left with ANSWER. */
static long go_on(const struct flexsc_entry *entry, long answer)
{
	if (answer == -EINTR) /* a handler ended it */
		return ferry__entry_interrupted(entry);
	if (entry->begun == FLEXSC_BEGUN_RESTART)
		return ferry_rawcall(SYS_restart_syscall, 0, 0, 0, 0, 0, 0);
	return ferry__entry_run(entry);
}

bool ferry__flexsc_make_begun(struct flexsc_set *set, long answer)
{
	struct server server = { .set = set, .flags = set->flags };
	struct flexsc_entry *entry = set->entry;

	for (; entry < set->entry + set->count; entry++) {
		if (!entry->begun || !is_submitted(entry))
			continue;
		complete(&server, entry, go_on(entry, answer));
		return true;
	}
	return false;
}

bool ferry__flexsc_serve(struct flexsc_set *set, int limit, const bool *is_spare)
{
	struct server server = {
		.set = set,
		.mask = set->count - 1,
		.flags = set->flags,
		.limit = limit,
		.spin_ns = (long)set->spin_ns,
		.is_spare = is_spare,
	};
	struct flexsc_entry *entry;

	__atomic_store_n(&set->runner, FLEXSC_RUNNER_RUNNING, __ATOMIC_RELAXED);
	while (!must_stop(&server) && !server.is_idle) {
		entry = find(&server);
		if (entry && take(&server, entry))
			run(&server, entry);
		else
			idle(&server);
	}
	__atomic_store_n(&set->runner, FLEXSC_RUNNER_ABSENT, __ATOMIC_RELAXED);
	return server.is_idle;
}

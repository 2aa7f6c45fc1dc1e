// SPDX-License-Identifier: MIT
/* One lock that threads wait for. */
#include <math.h>
#include <sys/syscall.h>

#include <linux/futex.h>

#include "../hash.h"
#include "common/memory.h"
#include "waits.h"

#define OFTEN 10
#define CONTENDED 2 /* what locks of C libraries and languages hold while others wait */

static bool waits_for_lock(const struct traced_call *call)
{
	const unsigned long operation = call->args[1] & (unsigned long)FUTEX_CMD_MASK;

	return call->nr == SYS_futex &&
	       (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET) &&
	       (uint32_t)call->args[2] == CONTENDED && call->waited_ns > 0;
}

static uint64_t key_of(const struct traced_call *call)
{
	return hash_number(call->args[0], (uint64_t)call->process);
}

/* Threads that are among the first 64 that wait; more share the time as well as these do. */
static size_t count_threads(const struct member *group, size_t size)
{
	pid_t seen[64];
	size_t count = 0, i, k;

	for (i = 0; i < size && count < 64; i++) {
		const pid_t thread = group[i].seen->call->thread;

		for (k = 0; k < count && seen[k] != thread; k++)
			;
		if (k == count)
			seen[count++] = thread;
	}
	return count;
}

static void add_lock(struct evidence *evidence, const struct member *group, size_t size)
{
	const struct wait wait = wait_of(evidence, group, size);
	const size_t threads = count_threads(group, size);
	/* They wait at the same time. */
	const double wall_ns = wait.ns / (double)threads;

	add_finding(evidence,
		    (struct finding){
			    .kind = "lock",
			    .what = keep_text("%s sleep %ld times for one lock, %s each (99 %% "
					      "below %s)",
					      counted((double)threads, "thread"), wait.times,
					      duration(wait.mean), duration(wait.p99)),
			    .cure = "a shorter time with the lock held, or several locks,",
			    .calls = (double)wait.times,
			    .cost = { wall_ns, wall_ns * evidence->error_of_calls },
			    .saved = { wall_ns, wall_ns / 2 },
			    .waits = true,
		    });
}

void find_locks(struct evidence *evidence)
{
	struct groups groups = { 0 };
	double most_ns = 0;
	size_t most = 0, i, k, size;

	for (i = 0; i < evidence->count; i++)
		if (waits_for_lock(evidence->of[i].call))
			groups_add(&groups, key_of(evidence->of[i].call), &evidence->of[i]);
	groups_sort(&groups);
	for (i = 0; i < groups.count; i += size) {
		double ns = 0;

		size = group_size(&groups, i);
		for (k = i; k < i + size; k++)
			ns += groups.of[k].seen->call->waited_ns;
		if (size >= OFTEN && ns > most_ns) {
			most_ns = ns;
			most = i;
		}
	}
	if (most_ns > 0)
		add_lock(evidence, &groups.of[most], group_size(&groups, most));
	groups_free(&groups);
}

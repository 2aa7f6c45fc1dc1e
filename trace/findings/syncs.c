// SPDX-License-Identifier: MIT
/* Data that are written to the disk piece by piece, with a wait for each. */
#include <fcntl.h>
#include <math.h>
#include <sys/syscall.h>

#include "../names.h"
#include "common/memory.h"
#include "waits.h"

static const char kind[] = "sync";

#define OFTEN 3

static bool syncs(const struct traced_call *call)
{
	static const char *const names[] = { "fsync",		"fdatasync", "syncfs", "sync",
					     "sync_file_range", "msync",     NULL };

	return is_among(name_of_call(call->nr), names);
}

/* A journal comes and goes with each transaction. */
static bool makes_or_removes_file(const struct traced_call *call)
{
	static const char *const names[] = { "unlink",	  "unlinkat",  "rename", "renameat",
					     "renameat2", "ftruncate", NULL };

	if (call_failed(call))
		return false;
	return (call->nr == SYS_openat && (call->args[2] & O_CREAT)) ||
	       is_among(name_of_call(call->nr), names);
}

/* Of the processes' calls for files that each of so many syncs takes with it. */
static double wall_of_journals(const struct evidence *evidence, double syncs)
{
	double calls = 0, wall_ns = 0;
	size_t i;

	for (i = 0; i < evidence->count; i++)
		if (makes_or_removes_file(evidence->of[i].call)) {
			calls += evidence->of[i].calls;
			wall_ns += evidence->of[i].calls * wall_of(&evidence->of[i]);
		}
	return calls >= syncs / 8 ? wall_ns : 0;
}

#define LEAST_ERROR 0.1 /* relative */

/* The next run may find the disk as busy as any of these calls found it. */
static double error_of_disk(struct wait wait)
{
	return fmax(LEAST_ERROR, wait.spread);
}

void find_syncs(struct evidence *evidence)
{
	struct groups groups = { 0 };
	struct tally all = { 0 };
	double wall_ns = 0, syncs_ns;
	struct wait wait;
	size_t i;

	for (i = 0; i < evidence->count; i++) {
		struct seen_call *seen = &evidence->of[i];

		if (!syncs(seen->call))
			continue;
		groups_add(&groups, 0, seen);
		claim(&all, seen, kind);
		wall_ns += seen->calls * wall_of(seen);
	}
	if (groups.count < OFTEN) {
		groups_free(&groups);
		return;
	}
	groups_sort(&groups);
	wait = wait_of(evidence, groups.of, groups.count);
	groups_free(&groups);
	syncs_ns = wall_ns;
	wall_ns += wall_of_journals(evidence, all.calls);
	add_finding(
		evidence,
		(struct finding){
			.kind = kind,
			.what = keep_text("%s of %s wait for the disk, %s each (99 %% below %s)",
					  counted(all.calls, "call"), wait.call,
					  duration(syncs_ns / all.calls), duration(wait.p99)),
			.cure = "one transaction for many changes, or syncing less often,",
			.calls = all.calls,
			.cost = { wall_ns, wall_ns * evidence->error_of_calls },
			.saved = { wall_ns * (1 - 1 / all.calls), wall_ns * error_of_disk(wait) },
			.waits = true,
		});
}

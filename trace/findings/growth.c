// SPDX-License-Identifier: MIT
/* A buffer that grows by little, again and again: mremap(), or mmap() of more, a copy, munmap(). */
#include <math.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/memory.h"
#include "evidence.h"

static const char kind[] = "growth";

#define OFTEN 16    /* steps */
#define RATIO 1.5   /* a larger step keeps the number of steps small */
#define LOOK_BACK 8 /* calls, to the map of a buffer */

static bool is_step(double from, double to)
{
	return from > 0 && to > from && to < RATIO * from;
}

static bool is_failed_or_other(const struct traced_call *call, int nr)
{
	return call->nr != nr || call_failed(call);
}

/* The call that mapped more than the munmap() SEEN gives back, shortly before it. */
static struct seen_call *larger_map_before(const struct evidence *evidence, struct seen_call *seen)
{
	struct seen_call *before = seen;
	int i;

	for (i = 0; i < LOOK_BACK && before > evidence->of; i++) {
		before--;
		if (before->window != seen->window)
			return NULL;
		if (!is_failed_or_other(before->call, SYS_mmap) &&
		    (before->call->args[3] & MAP_ANONYMOUS) &&
		    is_step((double)seen->call->args[1], (double)before->call->args[1]))
			return before;
	}
	return NULL;
}

void find_growth(struct evidence *evidence)
{
	const double page = (double)sysconf(_SC_PAGESIZE);
	const struct figure fault = evidence->costs->fault;
	struct tally all = { 0 };
	double steps = 0, copied = 0;
	struct figure cost;
	size_t i;

	for (i = 0; i < evidence->count; i++) {
		struct seen_call *seen = &evidence->of[i], *map;

		if (!is_failed_or_other(seen->call, SYS_mremap) &&
		    is_step((double)seen->call->args[1], (double)seen->call->args[2])) {
			claim(&all, seen, kind);
			steps += seen->calls;
		}
		map = is_failed_or_other(seen->call, SYS_munmap) ?
			      NULL :
			      larger_map_before(evidence, seen);
		if (!map || map->claimed)
			continue;
		claim(&all, map, kind);
		claim(&all, seen, kind);
		steps += seen->calls;
		copied += seen->calls * (double)seen->call->args[1];
	}
	if (steps < OFTEN)
		return;
	cost = cost_of_tally(evidence, &all);
	/* Each page of a new map is touched for the first time. */
	cost.value += copied / page * fault.value;
	cost.error = hypot(cost.error, copied / page * fault.value / 4);
	add_finding(evidence,
		    (struct finding){
			    .kind = kind,
			    .what = keep_text("%s enlarge a buffer by little, and copy or "
					      "move it each time",
					      counted(steps, "step")),
			    .cure = "twice the size in each step",
			    .calls = all.calls,
			    .cost = cost,
			    .saved = { cost.value * (1 - log2(steps) / steps),
				       hypot(cost.error, cost.value * 0.2) },
		    });
}

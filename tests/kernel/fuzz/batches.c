// SPDX-License-Identifier: MIT
/* Batches of the differential tester: the loop and the kernel do the same. */
#include <stdlib.h>
#include <unistd.h>

#include <ferry.h>

#include "subject.h"
#include "tests/lib/differential/generate.h"
#include "tests/lib/differential/model.h"
#include "tests/lib/differential/world.h"

#define SLOTS 256
#define MOST_PAGES 64 /* a fault */

static const struct runner runners[2] = { { "loop", FERRY_LOOP, NO_BUG },
					  { "syscall", FERRY_SYSCALL, NO_BUG } };
static struct outcome *outcomes[2];

static void begin(const char *directory)
{
	unsigned int i;

	/* First, because the world closes descriptors. */
	coverage_record(0);
	world_make(directory);
	for (i = 0; i < 2; i++)
		if (!(outcomes[i] = outcome_new()))
			abort();
}

/* The engines take turns at running first, so that neither always runs on the other's state. */
static bool differ(const struct program *program, unsigned int first)
{
	world_run(program, &runners[first], outcomes[first]);
	world_run(program, &runners[!first], outcomes[!first]);
	return outcomes_differ(program, outcomes[0], outcomes[1], runners[0].name, runners[1].name,
			       NULL);
}

static bool run(struct random *random, FILE *why)
{
	static struct program program;
	unsigned int first = random_percent(random, 50);
	bool ahead = random_percent(random, 30);

	/* What a batch writes to may be mapped by several pages at a time, which nobody sees. */
	syscall(FERRY_NR_MULTI_PAGE_ALLOC, ahead ? 1 + random_below(random, MOST_PAGES) : 0);
	generate_from(&program, random, SLOTS);
	/* A program may have closed what the world needs; then it is run again. */
	if (!differ(&program, first) || (!world_mend() && !differ(&program, first)))
		return true;
	outcomes_differ(&program, outcomes[0], outcomes[1], runners[0].name, runners[1].name, why);
	program_print(&program, why);
	return false;
}

const struct subject batches = { .name = "batches", .begin = begin, .run = run };

// SPDX-License-Identifier: MIT
/* The loop engine: <ferry/loop.h> does all the work. */
#include <ferry/loop.h>

#include "engine.h"

static int probe(const char **why)
{
	*why = "runs on any Linux";
	return 0;
}

static long run(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	return ferry_loop(rets, calls, ncall);
}

const struct engine ferry__loop_engine = {
	.name = "loop",
	.summary = "one system call per slot, in user space: the reference and the fallback",
	.probe = probe,
	.run = run,
};

// SPDX-License-Identifier: MIT
/* The loop engine: <ferry/loop.h> does all the work. */
#include "engine.h"
#include "shared_loop.h"

static int probe(const char **why)
{
	*why = "runs on any Linux";
	return 0;
}

void ferry__loop_until(struct ferry_cursor *cursor, const struct ferry_slot *stop, long rets[],
		       const struct ferry_slot calls[], unsigned long ncall)
{
	ferry_loop_until(cursor, stop, rets, calls, ncall);
}

static long run(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	struct ferry_cursor cursor = ferry_cursor_at(0, calls);

	ferry__loop_until(&cursor, calls + ncall, rets, calls, ncall);
	return ferry_cursor_last(&cursor, calls);
}

const struct engine ferry__loop_engine = {
	.name = "loop",
	.summary = "one system call per slot, in user space: the reference and the fallback",
	.probe = probe,
	.run = run,
};

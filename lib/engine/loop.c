// SPDX-License-Identifier: MIT
/* The loop engine: <ferry/loop.h> is the whole of it. */
#include "engine.h"

static int probe(const char **why)
{
	*why = "runs on any Linux";
	return 0;
}

void loop_until(struct ferry_cursor *cursor, const struct ferry_slot *stop, long rets[],
		const struct ferry_slot calls[], unsigned long ncall)
{
	ferry_loop_until(cursor, stop, rets, calls, ncall);
}

static long run(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	struct ferry_cursor cursor = ferry_cursor_at(0, calls);

	loop_until(&cursor, calls + ncall, rets, calls, ncall);
	return ferry_cursor_last(&cursor, calls);
}

const struct engine loop_engine = {
	.name = "loop",
	.summary = "one system call per slot, in user space: the reference and the fallback",
	.probe = probe,
	.run = run,
};

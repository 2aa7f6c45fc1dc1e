// SPDX-License-Identifier: MIT
/* The syscall engine: a kernel with the ferry series runs the batch in one crossing. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <ferry/batchcall.h>

#include "engine.h"

static int probe(const char **why)
{
	long answer = ferry_rawcall(FERRY_NR_BATCH, 0, 0, 0, 0, 0, 0);

	if (ferry_failed(answer)) {
		*why = answer == -ENOSYS ? "this kernel does not have the batch system call" :
					   "a filter of system calls refuses the batch system call";
		return (int)answer;
	}
	if (answer <= 0 || (answer & BATCH_VERSION_MASK) != BATCH_VERSION) {
		*why = "this kernel's batch has another ABI version";
		return -EPROTONOSUPPORT;
	}
	*why = "this kernel has the batch system call";
	return 0;
}

/*
 * An absent engine refuses; one that a seccomp filter took away later leaves its batches to the
 * loop. ferry_batchcall() cannot tell these apart.
 */
static long run(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	static atomic_bool present;
	const char *why;
	int error;

	if (!atomic_load_explicit(&present, memory_order_relaxed)) {
		error = probe(&why);
		if (error)
			return error;
		atomic_store_explicit(&present, true, memory_order_relaxed);
	}
	return ferry_batchcall(rets, calls, ncall);
}

const struct engine ferry__syscall_engine = {
	.name = "syscall",
	.summary = "the batch system call of a kernel with the ferry series: one crossing",
	.probe = probe,
	.run = run,
};

// SPDX-License-Identifier: MIT
#include "batch_sides.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include <ferry.h>
#include <ferry/batchcall.h>

#include "batch_uring.h"
#include "measure/guest-module/ferry_bench.h"
#include "test_module.h"

/* ---- the kernel's batches, without the library's choice of an engine ---- */

static const char *engine_missing(enum ferry_engine engine)
{
	const char *why;

	return ferry_engine_probe(engine, &why) ? why : NULL;
}

static const char *syscall_missing(void)
{
	return engine_missing(FERRY_SYSCALL);
}

static long run_bare_syscall(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	struct batch_args args;

	ferry_batch_begin(&args, rets, calls, ncall);
	return ferry_batchcall_raw(FERRY_NR_BATCH, (long)&args, sizeof(args), 0);
}

static int device = -1;

static const char *device_missing(void)
{
	if (device < 0)
		device = open(FERRY_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	return engine_missing(FERRY_DEVICE);
}

static long run_bare_device(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	struct batch_args args;

	ferry_batch_begin(&args, rets, calls, ncall);
	return ferry_batchcall_raw(SYS_ioctl, device, (long)FERRY_IOC_BATCH, (long)&args);
}

/* ---- others ---- */

static const char *naive_missing(void)
{
	return test_module() < 0 ? "the test module is not loaded" : NULL;
}

static long run_naive(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	struct batch_args args = { (uintptr_t)rets, (uintptr_t)calls, ncall };

	return ferry_rawcall(SYS_ioctl, test_module(), (long)FERRY_BENCH_NAIVE, (long)&args, 0, 0,
			     0);
}

/* The least that a program can do by hand for the same calls. */
static long run_raw(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	const __s64 *arg;
	unsigned long i;

	for (i = 0; i < ncall; i++) {
		arg = calls[i].arg;
		rets[i] =
			ferry_rawcall(calls[i].nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	}
	return (long)ncall - 1;
}

static const struct side others[OTHER_SIDES] = {
	{ "bare-syscall", syscall_missing, run_bare_syscall, -1, PROGRAMS },
	{ "bare-device", device_missing, run_bare_device, -1, PROGRAMS },
	{ "naive", naive_missing, run_naive, -1, CALLS },
	{ "raw", NULL, run_raw, -1, CALLS },
	{ "nops", uring_missing, uring_nops, -1, NOTHINGS },
	{ "nops-linked", uring_missing, uring_linked_nops, -1, NOTHINGS },
	{ "uring", uring_missing, uring_requests, -1, REQUESTS },
	{ "uring-linked", uring_missing, uring_linked_requests, -1, REQUESTS },
};

struct side side_of_engine(const char *name)
{
	return (struct side){ .name = name, .engine = ferry_engine_by_name(name) };
}

const struct side *find_other_side(const char *name)
{
	size_t i;

	for (i = 0; i < OTHER_SIDES; i++)
		if (!strcmp(others[i].name, name))
			return &others[i];
	return NULL;
}

long side_run(const struct side *side, long rets[], const struct batch_slot calls[],
	      unsigned long ncall)
{
	if (side->engine >= 0)
		return ferry_batch_on((enum ferry_engine)side->engine, rets, calls, ncall, 0, 0);
	return side->run(rets, calls, ncall);
}

// SPDX-License-Identifier: MIT
#include "engines.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <ferry.h>
#include <ferry/loop.h>

#include "module.h"

static bool syscall_here(void)
{
	return !ferry_engine_probe(FERRY_SYSCALL, NULL);
}

static void run_syscall(long rets[], const struct ferry_slot calls[], unsigned long n)
{
	ferry_rawcall(FERRY_NR_BATCH, (long)rets, (long)calls, (long)n, 0, sizeof(*calls), 0);
}

static int device = -1;

static bool device_here(void)
{
	if (device < 0)
		device = open(FERRY_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	return device >= 0;
}

static void run_device(long rets[], const struct ferry_slot calls[], unsigned long n)
{
	struct ferry_batch_args args = {
		.rets = (unsigned long)rets,
		.calls = (unsigned long)calls,
		.ncall = n,
	};

	ferry_rawcall(SYS_ioctl, device, (long)FERRY_IOC_BATCH, (long)&args, 0, 0, 0);
}

static bool naive_here(void)
{
	return module_descriptor() >= 0;
}

static void run_naive(long rets[], const struct ferry_slot calls[], unsigned long n)
{
	struct ferry_batch_args args = {
		.rets = (unsigned long)rets,
		.calls = (unsigned long)calls,
		.ncall = n,
	};

	ioctl(module_descriptor(), FERRY_BENCH_NAIVE, &args);
}

static bool always_here(void)
{
	return true;
}

static void run_loop(long rets[], const struct ferry_slot calls[], unsigned long n)
{
	ferry_loop(rets, calls, n);
}

/* The least that a program can do by hand for the same calls; jumps are not looked at. */
static void run_raw(long rets[], const struct ferry_slot calls[], unsigned long n)
{
	const __s64 *arg;
	unsigned long i;

	for (i = 0; i < n; i++) {
		arg = calls[i].arg;
		rets[i] =
			ferry_rawcall(calls[i].nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	}
}

const struct engine engines[] = {
	{ "syscall", true, true, syscall_here, run_syscall },
	{ "device", true, true, device_here, run_device },
	{ "naive", true, false, naive_here, run_naive },
	{ "loop", false, true, always_here, run_loop },
	{ "raw", false, false, always_here, run_raw },
};

const size_t engine_count = sizeof(engines) / sizeof(engines[0]);

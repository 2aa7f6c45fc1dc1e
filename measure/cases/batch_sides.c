// SPDX-License-Identifier: MIT
#include "batch_sides.h"

#include <fcntl.h>
#include <liburing.h>
#include <stdint.h>
#include <string.h>

#include <ferry.h>
#include <ferry/rawcall.h>

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

static long run_bare_syscall(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	return ferry_rawcall(FERRY_NR_BATCH, (long)rets, (long)calls, (long)ncall, 0,
			     sizeof(*calls), 0);
}

static int device = -1;

static const char *device_missing(void)
{
	if (device < 0)
		device = open(FERRY_DEVICE_PATH, O_RDWR | O_CLOEXEC);
	return engine_missing(FERRY_DEVICE);
}

static long run_bare_device(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	struct ferry_batch_args args = { (uintptr_t)rets, (uintptr_t)calls, ncall };

	return ferry_rawcall(SYS_ioctl, device, (long)FERRY_IOC_BATCH, (long)&args, 0, 0, 0);
}

/* ---- io_uring's own cost: NOPs in one crossing ---- */

#define SIZES 16 /* 1 .. MOST_NOPS */
#define FLAGS (IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN)

/* A ring for each size: its requests stay in their places, and are submitted again and again. */
struct nops {
	struct io_uring ring;
	bool ready;
};

static struct nops rings[2][SIZES];

static const char *nops_missing(void)
{
	struct io_uring ring;

	if (io_uring_queue_init(1, &ring, FLAGS))
		return "io_uring is not available to this process";
	io_uring_queue_exit(&ring);
	return NULL;
}

static void fill(struct io_uring *ring, unsigned long n, bool linked)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = &ring->sq.sqes[i];

		io_uring_prep_nop(sqe);
		if (linked && i + 1 < n)
			sqe->flags |= IOSQE_IO_LINK;
	}
}

static int prepare(struct nops *nops, unsigned long n, bool linked)
{
	int error = io_uring_queue_init((unsigned int)n, &nops->ring, FLAGS);

	if (error)
		return error;
	fill(&nops->ring, n, linked);
	nops->ready = true;
	return 0;
}

/*
 * Submits N NOPs, a power of two, and reaps them; returns N - 1, as a batch of N slots does.  The
 * first call with an N sets its ring up, which a child forked later cannot use.
 */
static long nops_run(unsigned long n, bool linked)
{
	struct nops *nops = &rings[linked][__builtin_ctzl(n)];
	int error = nops->ready ? 0 : prepare(nops, n, linked);

	if (error)
		return error;
	nops->ring.sq.sqe_tail += (unsigned int)n;
	error = io_uring_submit_and_wait(&nops->ring, (unsigned int)n);
	if (error < 0)
		return error;
	io_uring_cq_advance(&nops->ring, (unsigned int)n);
	return (long)n - 1;
}

static long run_nops(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	(void)rets;
	(void)calls;
	return nops_run(ncall, false);
}

static long run_linked_nops(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	(void)rets;
	(void)calls;
	return nops_run(ncall, true);
}

/* ---- others ---- */

static const char *naive_missing(void)
{
	return test_module() < 0 ? "the test module is not loaded" : NULL;
}

static long run_naive(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	struct ferry_batch_args args = { (uintptr_t)rets, (uintptr_t)calls, ncall };

	return ferry_rawcall(SYS_ioctl, test_module(), (long)FERRY_BENCH_NAIVE, (long)&args, 0, 0,
			     0);
}

/* The least that a program can do by hand for the same calls. */
static long run_raw(long rets[], const struct ferry_slot calls[], unsigned long ncall)
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
	{ "nops", nops_missing, run_nops, -1, NOTHINGS },
	{ "nops-linked", nops_missing, run_linked_nops, -1, NOTHINGS },
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

long side_run(const struct side *side, long rets[], const struct ferry_slot calls[],
	      unsigned long ncall)
{
	if (side->engine >= 0)
		return ferry_batch_on((enum ferry_engine)side->engine, rets, calls, ncall, 0, 0);
	return side->run(rets, calls, ncall);
}

// SPDX-License-Identifier: MIT
/*
 * A program that `ferry bench apps --program` can compare mdu with: the linker puts this in the
 * place of the example's run_batch(), so all else is the same.  The statx calls of a batch, which
 * do not depend on each other, are submitted to io_uring and waited for in one crossing; other
 * calls are made one by one.
 */
#include <err.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <ferry/loop.h>

#define ENTRIES 256 /* tree.c makes no longer batches */

/* The linker's name for what replaces run_batch(). */
unsigned long __wrap_run_batch(long rets[], const struct batch_slot calls[], unsigned long ncall);

static struct io_uring *ring_of_program(void)
{
	const unsigned int flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
	static struct io_uring ring;
	static bool ready;
	int error;

	if (ready)
		return &ring;
	error = io_uring_queue_init(ENTRIES, &ring, flags);
	if (error)
		errx(EXIT_FAILURE, "io_uring cannot be used: %s", strerror(-error));
	ready = true;
	return &ring;
}

/* Stats the slots from FIRST to the end. */
static void stat_slots(long rets[], const struct batch_slot calls[], unsigned long first,
		       unsigned long ncall)
{
	struct io_uring *ring = ring_of_program();
	struct io_uring_cqe *cqe;
	unsigned int head;
	unsigned long i;

	for (i = first; i < ncall; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
		const __s64 *arg = calls[i].arg;

		io_uring_prep_statx(sqe, (int)arg[0], (const char *)arg[1], (int)arg[2],
				    (unsigned int)arg[3], (struct statx *)arg[4]);
		io_uring_sqe_set_data64(sqe, i);
	}
	io_uring_submit_and_wait(ring, (unsigned int)(ncall - first));
	io_uring_for_each_cqe(ring, head, cqe)
	{
		rets[cqe->user_data] = cqe->res;
	}
	io_uring_cq_advance(ring, (unsigned int)(ncall - first));
}

unsigned long __wrap_run_batch(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	unsigned long first = calls[0].nr == SYS_statx ? 0 : 1;

	if (ncall <= first || ncall > ENTRIES || calls[first].nr != SYS_statx)
		return (unsigned long)ferry_loop(rets, calls, ncall);
	if (first)
		ferry_loop(rets, calls, first);
	stat_slots(rets, calls, first, ncall);
	return ncall - 1;
}

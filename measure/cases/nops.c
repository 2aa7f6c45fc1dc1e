// SPDX-License-Identifier: MIT
#include "nops.h"

#include <errno.h>
#include <liburing.h>

#define SIZES 16 /* 1 .. MOST_NOPS */
#define FLAGS (IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN)

/* A ring for each size: its requests stay in their places, and are submitted again and again. */
struct nops {
	struct io_uring ring;
	bool ready;
};

static struct nops rings[2][SIZES];

const char *nops_missing(void)
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

long nops_run(unsigned long n, bool linked)
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

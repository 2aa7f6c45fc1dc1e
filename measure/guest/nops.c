// SPDX-License-Identifier: MIT
#include "nops.h"

#include <liburing.h>
#include <stdlib.h>

#define SIZES 16 /* 1 .. 32,768, the most that a ring takes */

struct nops {
	struct io_uring rings[SIZES];
	unsigned int sizes;
};

/* Fills the ring with SLOTS requests, which stay there and are submitted again and again. */
static void fill(struct io_uring *ring, unsigned int slots, bool linked)
{
	unsigned int i;

	for (i = 0; i < slots; i++) {
		struct io_uring_sqe *sqe = &ring->sq.sqes[i];

		io_uring_prep_nop(sqe);
		if (linked && i + 1 < slots)
			sqe->flags |= IOSQE_IO_LINK;
	}
}

struct nops *nops_new(unsigned int longest, bool linked)
{
	const unsigned int flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
	struct nops *nops = calloc(1, sizeof(*nops));
	unsigned int slots;

	for (slots = 1; nops && slots <= longest && nops->sizes < SIZES; slots *= 2) {
		struct io_uring *ring = &nops->rings[nops->sizes];

		if (io_uring_queue_init(slots, ring, flags)) {
			nops_free(nops);
			return NULL;
		}
		nops->sizes++;
		fill(ring, slots, linked);
	}
	return nops;
}

void nops_run(const void *context, unsigned long n)
{
	const struct nops *nops = context;
	struct io_uring *ring = (struct io_uring *)&nops->rings[__builtin_ctzl(n)];

	/* The requests are in the ring already: only the tail moves. */
	ring->sq.sqe_tail += n;
	io_uring_submit_and_wait(ring, n);
	io_uring_cq_advance(ring, n);
}

void nops_free(struct nops *nops)
{
	while (nops && nops->sizes)
		io_uring_queue_exit(&nops->rings[--nops->sizes]);
	free(nops);
}

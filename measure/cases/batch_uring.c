// SPDX-License-Identifier: MIT
#include "batch_uring.h"

#include <liburing.h>
#include <sys/syscall.h>

#define SIZES 16 /* 1 .. MOST_REQUESTS */
#define FLAGS (IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN)

/* What a ring is for. */
struct kind {
	bool does_calls; /* else it does nothing */
	bool linked;
};

/* A ring of each kind and size: its requests are submitted again and again. */
static struct prepared {
	struct io_uring ring;
	const struct batch_slot *calls; /* that its requests are made of, or NULL */
} rings[2][2][SIZES];

const char *uring_missing(void)
{
	struct io_uring ring;

	if (io_uring_queue_init(1, &ring, FLAGS))
		return "this process cannot use io_uring of Linux 6.1 or later";
	io_uring_queue_exit(&ring);
	return NULL;
}

bool uring_has(const struct batch_slot *slot)
{
	switch (slot->nr) {
	case SYS_read:
	case SYS_write:
	case SYS_pread64:
	case SYS_statx:
		return true;
	default:
		return false;
	}
}

/* read() and write() go on where the file's position is. */
static void prepare_request(struct io_uring_sqe *sqe, const struct batch_slot *slot)
{
	const __u64 at_position = -1ULL;
	const __s64 *arg = slot->arg;
	const void *data = (const void *)arg[1];

	if (slot->nr == SYS_statx) {
		io_uring_prep_statx(sqe, (int)arg[0], data, (int)arg[2], (unsigned int)arg[3],
				    (struct statx *)arg[4]);
		return;
	}
	if (slot->nr == SYS_write)
		io_uring_prep_write(sqe, 0, data, (unsigned int)arg[2], at_position);
	else
		io_uring_prep_read(sqe, 0, (void *)arg[1], (unsigned int)arg[2],
				   slot->nr == SYS_read ? at_position : (__u64)arg[3]);
	sqe->flags |= IOSQE_FIXED_FILE;
}

static void fill(struct io_uring *ring, struct kind kind, const struct batch_slot calls[],
		 unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		struct io_uring_sqe *sqe = &ring->sq.sqes[i];

		if (kind.does_calls)
			prepare_request(sqe, &calls[i]);
		else
			io_uring_prep_nop(sqe);
		if (kind.linked && i + 1 < n)
			sqe->flags |= IOSQE_IO_LINK;
		io_uring_sqe_set_data64(sqe, i);
	}
}

static int prepare(struct prepared *at, struct kind kind, const struct batch_slot calls[],
		   unsigned long n)
{
	int error = io_uring_queue_init((unsigned int)n, &at->ring, FLAGS), file;

	if (!error && kind.does_calls && calls[0].nr != SYS_statx) {
		file = (int)calls[0].arg[0];
		error = io_uring_register_files(&at->ring, &file, 1);
	}
	if (error)
		return error;
	fill(&at->ring, kind, calls, n);
	at->calls = calls;
	return 0;
}

/* A program needs the results; there are none to take from a NOP. */
static void reap(struct io_uring *ring, bool results, long rets[], unsigned long n)
{
	struct io_uring_cqe *cqe;
	unsigned int head;

	if (results)
		io_uring_for_each_cqe(ring, head, cqe)
		{
			rets[cqe->user_data] = cqe->res;
		}
	io_uring_cq_advance(ring, (unsigned int)n);
}

static long run(struct kind kind, long rets[], const struct batch_slot calls[], unsigned long n)
{
	struct prepared *at = &rings[kind.does_calls][kind.linked][__builtin_ctzl(n)];
	int error = 0;

	if (!at->calls)
		error = prepare(at, kind, calls, n);
	else if (at->calls != calls)
		error = -EINVAL; /* a process runs the batches of one workload */
	if (error)
		return error;
	at->ring.sq.sqe_tail += (unsigned int)n;
	error = io_uring_submit_and_wait(&at->ring, (unsigned int)n);
	if (error < 0)
		return error;
	reap(&at->ring, kind.does_calls, rets, n);
	return (long)n - 1;
}

long uring_nops(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	return run((struct kind){ false, false }, rets, calls, ncall);
}

long uring_linked_nops(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	return run((struct kind){ false, true }, rets, calls, ncall);
}

long uring_requests(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	return run((struct kind){ true, false }, rets, calls, ncall);
}

long uring_linked_requests(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	return run((struct kind){ true, true }, rets, calls, ncall);
}

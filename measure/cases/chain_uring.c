// SPDX-License-Identifier: MIT
#include "chain_uring.h"

#include <fcntl.h>
#include <liburing.h>
#include <stdbool.h>

#define REQUESTS 4

enum { OTHER, READ }; /* what a completion is of */

static int ring_open(struct io_uring *ring)
{
	int error = io_uring_queue_init(REQUESTS, ring,
					IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);

	if (error)
		return error;
	error = io_uring_register_files_sparse(ring, 1);
	if (error)
		io_uring_queue_exit(ring);
	return error;
}

const char *chain_uring_missing(void)
{
	struct io_uring ring;

	if (ring_open(&ring))
		return "io_uring with direct descriptors is not available to this process";
	io_uring_queue_exit(&ring);
	return NULL;
}

/* The bytes read, or the first error, of COUNT completions. */
static long reap(struct io_uring *ring, unsigned int count)
{
	struct io_uring_cqe *cqe;
	long length = 0, error = 0;
	unsigned int head;

	io_uring_for_each_cqe(ring, head, cqe)
	{
		if (cqe->res < 0 && !error)
			error = cqe->res;
		if (cqe->user_data == READ)
			length = cqe->res;
	}
	io_uring_cq_advance(ring, count);
	return error ? error : length;
}

long uring_read_file(const char *path, struct statx *stat, char *buffer, size_t size)
{
	static struct io_uring ring;
	static bool ready;
	unsigned int count = stat ? REQUESTS : REQUESTS - 1;
	struct io_uring_sqe *sqe;
	int error = ready ? 0 : ring_open(&ring);

	if (error)
		return error;
	ready = true;
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_openat_direct(sqe, AT_FDCWD, path, O_RDONLY, 0, 0);
	io_uring_sqe_set_data64(sqe, OTHER);
	sqe->flags |= IOSQE_IO_LINK;
	if (stat) {
		sqe = io_uring_get_sqe(&ring);
		io_uring_prep_statx(sqe, AT_FDCWD, path, 0, STATX_BASIC_STATS, stat);
		io_uring_sqe_set_data64(sqe, OTHER);
		sqe->flags |= IOSQE_IO_LINK;
	}
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_read(sqe, 0, buffer, (unsigned int)size, 0);
	io_uring_sqe_set_data64(sqe, READ);
	/* A short read would break a soft link, and the file would stay open. */
	sqe->flags |= IOSQE_FIXED_FILE | IOSQE_IO_HARDLINK;
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_close_direct(sqe, 0);
	io_uring_sqe_set_data64(sqe, OTHER);
	io_uring_submit_and_wait(&ring, count);
	return reap(&ring, count);
}

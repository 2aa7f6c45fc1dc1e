// SPDX-License-Identifier: MIT
#include "uring_files.h"

#include <fcntl.h>
#include <liburing.h>

#define REQUESTS 4

enum { OTHER, READ }; /* what a completion is of */

static struct io_uring ring;

bool uring_files_here(void)
{
	static int known; /* 1: here, -1: not */
	const unsigned int flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;

	if (!known) {
		known = -1;
		if (!io_uring_queue_init(REQUESTS, &ring, flags) &&
		    !io_uring_register_files_sparse(&ring, 1))
			known = 1;
	}
	return known > 0;
}

/* The bytes read, or the first error, of COUNT completions. */
static long reap(unsigned int count)
{
	struct io_uring_cqe *cqe;
	long length = 0, error = 0;
	unsigned int head;

	io_uring_for_each_cqe(&ring, head, cqe)
	{
		if (cqe->res < 0 && !error)
			error = cqe->res;
		if (cqe->user_data == READ)
			length = cqe->res;
	}
	io_uring_cq_advance(&ring, count);
	return error ? error : length;
}

long uring_read_file(const char *path, struct statx *stat, char *buffer, size_t size)
{
	unsigned int count = stat ? REQUESTS : REQUESTS - 1;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

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
	return reap(count);
}

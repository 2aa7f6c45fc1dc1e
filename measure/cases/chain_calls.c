// SPDX-License-Identifier: MIT
/* Filling in slots and requests is timed as well, because a program does it for each file. */
#include "chain_calls.h"

#include <fcntl.h>
#include <liburing.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <ferry/rawcall.h>

#include "slot.h"

#define OPEN_FILE CALL(SYS_openat, AT_FDCWD, (long)CHAIN_FILE, O_RDONLY | O_CLOEXEC)

static struct stat status;
static struct statx statx_status;
static char data[CHAIN_FILE_SIZE];
static long mapped; /* address of the last mapping, 0 when there is none */

static long open_by_hand(void)
{
	return ferry_rawcall(SYS_openat, AT_FDCWD, (long)CHAIN_FILE, O_RDONLY | O_CLOEXEC, 0, 0, 0);
}

/* ---- openat, fstat, mmap, close: as in examples/total.c ---- */

enum { OPEN, STAT, COPY_SIZE, MAP, CLOSE, MAP_SLOTS };

static long map_by_batch(const struct chain *chain, enum ferry_engine engine)
{
	long results[MAP_SLOTS];
	struct ferry_slot calls[MAP_SLOTS] = {
		[OPEN] = { OPEN_FILE, .jump_fail = -1 },
		[STAT] = { CALL_FORWARDED(SYS_fstat, 0, (long)&status), .from = { STAT - OPEN },
			   .jump_fail = CLOSE - STAT - 1 },
		[COPY_SIZE] = { CALL(FERRY_NR_WDCPY, (long)&calls[MAP].arg[1],
				     (long)&status.st_size) },
		[MAP] = { CALL_FORWARDED(SYS_mmap, 0, 0, PROT_READ, MAP_PRIVATE, 0, 0),
			  .from = { [4] = MAP - OPEN }, .jump_fail = CLOSE - MAP - 1 },
		[CLOSE] = { CALL_FORWARDED(SYS_close, 0), .from = { CLOSE - OPEN } },
	};

	(void)chain;
	ferry_batch_on(engine, results, calls, MAP_SLOTS, 0, 0);
	mapped = results[MAP];
	return status.st_size;
}

static long map_by_hand(const struct chain *chain, enum ferry_engine engine)
{
	long fd = open_by_hand();

	(void)chain;
	(void)engine;
	if (fd < 0)
		return fd;
	if (ferry_rawcall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) < 0)
		return -1;
	mapped = ferry_rawcall(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	return status.st_size;
}

void chain_unmap(void)
{
	if (mapped > 0)
		munmap((void *)mapped, CHAIN_FILE_SIZE);
	mapped = 0;
}

/* ---- openat, statx, read, close: io_uring has them all; without statx, no path is looked up twice
 */

#define READ_SLOTS 4

static long read_by_batch(const struct chain *chain, enum ferry_engine engine)
{
	struct ferry_slot calls[READ_SLOTS], *read = &calls[chain->stats ? 2 : 1];
	long results[READ_SLOTS];

	calls[0] = (struct ferry_slot){ OPEN_FILE, .jump_fail = -1 };
	if (chain->stats)
		calls[1] = (struct ferry_slot){ CALL(SYS_statx, AT_FDCWD, (long)CHAIN_FILE, 0,
						     STATX_BASIC_STATS, (long)&statx_status),
						.jump_fail = 1 };
	read[0] = (struct ferry_slot){ CALL_FORWARDED(SYS_read, 0, (long)data, sizeof(data)),
				       .from = { (unsigned char)(read - calls) } };
	read[1] = (struct ferry_slot){ CALL_FORWARDED(SYS_close, 0),
				       .from = { (unsigned char)(read + 1 - calls) } };
	ferry_batch_on(engine, results, calls, (unsigned long)(read + 2 - calls), 0, 0);
	return results[read - calls];
}

static long read_by_hand(const struct chain *chain, enum ferry_engine engine)
{
	long fd = open_by_hand();
	long length;

	(void)engine;
	if (fd < 0)
		return fd;
	if (chain->stats && ferry_rawcall(SYS_statx, AT_FDCWD, (long)CHAIN_FILE, 0,
					  STATX_BASIC_STATS, (long)&statx_status, 0) < 0)
		return -1;
	length = ferry_rawcall(SYS_read, fd, (long)data, sizeof(data), 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	return length;
}

/* ---- the same by io_uring ---- */

#define REQUESTS 4 /* with that for the attributes */

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

static void mark(struct io_uring_sqe *sqe, int what, unsigned char flags)
{
	io_uring_sqe_set_data64(sqe, what);
	sqe->flags |= flags;
}

/*
 * One linked chain that opens a direct descriptor and asks for the attributes by the path, since
 * io_uring has no fstat.  The ring belongs to the process that makes the first call.
 */
static long read_by_uring(const struct chain *chain, enum ferry_engine engine)
{
	static struct io_uring ring;
	static bool ready;
	unsigned int count = chain->stats ? REQUESTS : REQUESTS - 1;
	struct io_uring_sqe *sqe;
	int error = ready ? 0 : ring_open(&ring);

	(void)engine;
	if (error)
		return error;
	ready = true;
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_openat_direct(sqe, AT_FDCWD, CHAIN_FILE, O_RDONLY, 0, 0);
	mark(sqe, OTHER, IOSQE_IO_LINK);
	if (chain->stats) {
		sqe = io_uring_get_sqe(&ring);
		io_uring_prep_statx(sqe, AT_FDCWD, CHAIN_FILE, 0, STATX_BASIC_STATS, &statx_status);
		mark(sqe, OTHER, IOSQE_IO_LINK);
	}
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_read(sqe, 0, data, sizeof(data), 0);
	/* A short read would break a soft link, and the file would stay open. */
	mark(sqe, READ, IOSQE_FIXED_FILE | IOSQE_IO_HARDLINK);
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_close_direct(sqe, 0);
	mark(sqe, OTHER, 0);
	io_uring_submit_and_wait(&ring, count);
	return reap(&ring, count);
}

const struct chain chains[] = {
	{ "openat fstat mmap close", true, map_by_batch, map_by_hand, NULL },
	{ "openat statx read close", true, read_by_batch, read_by_hand, read_by_uring },
	{ "openat read close", false, read_by_batch, read_by_hand, read_by_uring },
};

const size_t chain_count = sizeof(chains) / sizeof(chains[0]);

// SPDX-License-Identifier: MIT
/*
 * Work that a call leaves for the return to user space is done before the next slot: the
 * last close of a file, io_uring's completions, rseq's CPU number.
 */
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/rseq.h>
#include <sys/socket.h>

#ifndef NO_LIBRARIES
#include <liburing.h>
#endif

#include "hostile.h"

/* ---- the last close of a file ---- */

TEST(a_pipe_breaks_with_its_last_reader)
{
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	expect(!pipe2(ends, O_CLOEXEC));
	const struct batch_slot calls[] = {
		SLOT(SYS_write, ends[1], "x", 1),
		SLOT(SYS_close, ends[0]),
		SLOT(SYS_write, ends[1], "x", 1),
	};
	expect_batch(calls, 2, 1, 0, -EPIPE);
}

TEST(a_socket_ends_with_its_peer)
{
	int sockets[2];
	char byte;

	expect(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
	const struct batch_slot calls[] = {
		SLOT(SYS_close, sockets[1]),
		SLOT(SYS_recvfrom, sockets[0], &byte, 1, 0, NULL, NULL),
		SLOT(SYS_sendto, sockets[0], "x", 1, MSG_NOSIGNAL, NULL, 0),
	};
	expect_batch(calls, 2, 0, 0, -EPIPE);
}

TEST(a_lock_goes_with_its_file)
{
	char path[] = "/dev/shm/taskwork.XXXXXX";
	int locked = mkostemp(path, O_CLOEXEC);
	int other = open(path, O_RDWR | O_CLOEXEC);

	expect(locked >= 0 && other >= 0);
	unlink(path);
	expect(!flock(locked, LOCK_EX));
	const struct batch_slot calls[] = {
		SLOT(SYS_flock, other, LOCK_EX | LOCK_NB),
		SLOT(SYS_close, locked),
		SLOT(SYS_flock, other, LOCK_EX | LOCK_NB),
	};
	expect_batch(calls, 2, -EAGAIN, 0, 0);
}

/* A descriptor in a queued message is closed with the socket that holds it. */
TEST(a_descriptor_in_a_message_goes_with_its_socket)
{
	char control[CMSG_SPACE(sizeof(int))] = "";
	struct iovec data = { "x", 1 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int sockets[2];
	int ends[2];
	char byte;

	expect(!pipe2(ends, O_CLOEXEC));
	expect(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
	const struct batch_slot calls[] = {
		SLOT(SYS_sendmsg, sockets[0], &message, 0),
		SLOT(SYS_close, ends[1]),
		SLOT(SYS_close, sockets[0]),
		SLOT(SYS_close, sockets[1]),
		SLOT(SYS_read, ends[0], &byte, 1),
	};
	expect_batch(calls, 4, 1, 0, 0, 0, 0);
}

TEST(a_file_system_is_free_after_its_last_file)
{
	char path[] = "/dev/shm/taskwork.XXXXXX";
	char name[100];
	int file;

	expect(mkdtemp(path));
	if (mount("taskwork", path, "tmpfs", 0, NULL)) {
		rmdir(path);
		suite_skip("this user may not mount");
	}
	snprintf(name, sizeof(name), "%s/file", path);
	file = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	expect(file >= 0);
	const struct batch_slot calls[] = {
		SLOT(SYS_umount2, path, 0),
		SLOT(SYS_close, file),
		SLOT(SYS_umount2, path, 0),
		SLOT(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR),
	};
	expect_batch(calls, 3, -EBUSY, 0, 0, 0);
}

/* ---- io_uring ---- */

#ifndef NO_LIBRARIES

static void complete_between_slots(unsigned int flags)
{
	struct io_uring ring;
	struct io_uring_sqe *sqe;
	const long *tail;
	int event = eventfd(0, EFD_CLOEXEC);
	long one = 1;
	long before;
	long after;

	if (io_uring_queue_init(4, &ring, flags))
		suite_skip("no io_uring of this kind here");
	sqe = io_uring_get_sqe(&ring);
	io_uring_prep_poll_add(sqe, event, POLLIN);
	expect_equal(io_uring_submit(&ring), 1);
	tail = (const long *)ring.cq.ktail;
	const struct batch_slot calls[] = {
		SLOT(BATCH_WDCPY, &before, tail),
		SLOT(SYS_write, event, &one, 8),
		SLOT(BATCH_WDCPY, &after, tail),
		SLOT(SYS_getpid),
	};
	expect_batch(calls, 3, 0, 8, 0, getpid());
	expect_equal((unsigned int)before, 0);
	expect_equal((unsigned int)after, 1);
	io_uring_queue_exit(&ring);
}

TEST(io_uring_completes_before_the_next_slot)
{
	complete_between_slots(0);
	complete_between_slots(IORING_SETUP_COOP_TASKRUN);
}

#endif

/* ---- rseq ---- */

static struct rseq *own_rseq(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/* A thread knows its CPU as long as no other thread moves it. */
TEST(the_cpu_number_is_right_in_the_next_slot)
{
	static const unsigned long masks[] = { 1, 2 };
	struct batch_slot calls[8];
	long seen[4];
	long rets[8];
	int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		suite_skip("there is one CPU only");
	if (!__rseq_size || own_rseq()->cpu_id > 1000)
		suite_skip("no restartable sequences here");
	for (i = 0; i < 4; i++) {
		calls[2 * i] = SLOT(SYS_sched_setaffinity, 0, 8, &masks[i % 2]);
		calls[2 * i + 1] = SLOT(BATCH_WDCPY, &seen[i], own_rseq());
	}
	expect_equal(run_batch(rets, calls, 8), 7);
	for (i = 0; i < 4; i++) {
		expect_equal(rets[2 * i], 0);
		expect_equal(rets[2 * i + 1], 0);
		expect_equal((int)seen[i], i % 2);
	}
}

// SPDX-License-Identifier: MIT
/* A call of a user-level thread does what the same call alone does, also in rare cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <termios.h>
#include <unistd.h>

#include <ferry_flexsc.h>

#include "fixture.h"
#include "waits.h"

struct call {
	long nr, arg[6];
};

static void *make(void *argument)
{
	const struct call *call = argument;
	const long *arg = call->arg;

	return (void *)ferry_thread_call(call->nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

static long made(void **state, struct call call)
{
	return result_of(spawn(state, make, &call));
}

/* What the call returns that the kernel thread makes itself. */
static long plain(struct call call)
{
	const long *arg = call.arg;
	long result = syscall(call.nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);

	return result < 0 ? -errno : result;
}

static void assert_same(void **state, const struct call calls[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (made(state, calls[i]) != plain(calls[i]))
			fail_msg("call %zu", i);
}

/* Lets THREAD run as far as it can: it must wait then. */
static void assert_waits(struct ferry_thread *thread)
{
	assert_int_equal(ferry_thread_join_for(thread, NULL, 20000000), -ETIMEDOUT);
}

static void tcp_pair(int fds[2])
{
	struct sockaddr_in address;
	int listener = listen_on(&address);

	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fds[1], (struct sockaddr *)&address, sizeof(address)), 0);
	fds[0] = accept(listener, NULL, NULL);
	close(listener);
}

/* ---- bytes that a receive waits for ---- */

static void waits_for_ten(void **state, struct call call, const int fds[2], long result)
{
	struct ferry_thread *thread;
	char rest[20];

	assert_int_equal(write(fds[1], "abc", 3), 3);
	thread = spawn(state, make, &call);
	assert_waits(thread);
	assert_int_equal(write(fds[1], "0123456789", 10), 10);
	assert_int_equal(result_of(thread), result);
	recv(fds[0], rest, sizeof(rest), MSG_DONTWAIT);
}

static void at_least_so_many_bytes_are_received(void **state)
{
	void (*make_pair[])(int fds[2]) = { stream_pair, tcp_pair };
	char data[100], few[5];
	struct iovec part = { data, sizeof(data) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fds[2], least = 10, i;

	for (i = 0; i < 2; i++) {
		make_pair[i](fds);
		setsockopt(fds[0], SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
		waits_for_ten(state, (struct call){ SYS_read, { fds[0], (long)data, 100 } }, fds,
			      13);
		assert_memory_equal(data, "abc0123456789", 13);
		waits_for_ten(state, (struct call){ SYS_readv, { fds[0], (long)&part, 1 } }, fds,
			      13);
		waits_for_ten(state, (struct call){ SYS_recvfrom, { fds[0], (long)data, 100 } },
			      fds, 13);
		waits_for_ten(state, (struct call){ SYS_recvmsg, { fds[0], (long)&message } }, fds,
			      13);
		assert_int_equal(write(fds[1], "abcde", 5), 5);
		assert_int_equal(made(state, (struct call){ SYS_read, { fds[0], (long)few, 5 } }),
				 5);
		assert_int_equal(write(fds[1], "abc", 3), 3);
		close(fds[1]);
		assert_int_equal(
			made(state, (struct call){ SYS_read, { fds[0], (long)data, 100 } }), 3);
		close(fds[0]);
	}
}

static void all_bytes_are_looked_at(void **state)
{
	char data[13];
	struct call peek = { SYS_recvfrom, { 0, (long)data, 13, MSG_PEEK | MSG_WAITALL } };
	int fds[2];

	tcp_pair(fds);
	peek.arg[0] = fds[0];
	waits_for_ten(state, peek, fds, 13);
	close_both(fds);
}

/* ---- a part, then an error ---- */

#define LARGE 3000000

/* A plain read would keep the thread that sends from its next attempt. */
static void receive_1000_bytes(void **state, int fd)
{
	char data[1000];
	const struct call call = { SYS_recvfrom, { fd, (long)data, sizeof(data), MSG_WAITALL } };

	assert_int_equal(made(state, call), sizeof(data));
}

static void close_after_a_part(void **state, const struct call *call, const int fds[2])
{
	struct ferry_thread *writer = spawn(state, make, (void *)call);

	assert_waits(writer);
	receive_1000_bytes(state, fds[0]);
	close(fds[0]);
	assert_in_range(result_of(writer), 1000, LARGE - 1);
	close(fds[1]);
}

/* SIGPIPE is for the next call, and would end the test. */
static void a_part_is_written_without_a_signal(void **state)
{
	char *data = calloc(1, LARGE);
	struct iovec part = { data, LARGE };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fds[2];

	stream_pair(fds);
	close_after_a_part(state, &(struct call){ SYS_write, { fds[1], (long)data, LARGE } }, fds);
	stream_pair(fds);
	close_after_a_part(state, &(struct call){ SYS_writev, { fds[1], (long)&part, 1 } }, fds);
	stream_pair(fds);
	close_after_a_part(state, &(struct call){ SYS_sendto, { fds[1], (long)data, LARGE } }, fds);
	stream_pair(fds);
	close_after_a_part(state, &(struct call){ SYS_sendmsg, { fds[1], (long)&message } }, fds);
	free(data);
}

/* A connection that is reset: the bytes are returned first, then the error, then the end. */
static void a_part_is_received_before_the_error(void **state)
{
	const struct linger at_once = { .l_onoff = 1 };
	char data[100];
	struct call receive = { SYS_recvfrom, { 0, (long)data, 100, MSG_WAITALL } };
	struct ferry_thread *reader;
	int fds[2];

	tcp_pair(fds);
	receive.arg[0] = fds[0];
	reader = spawn(state, make, &receive);
	assert_int_equal(write(fds[1], "abc", 3), 3);
	assert_waits(reader);
	setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fds[1]);
	assert_int_equal(result_of(reader), 3);
	assert_int_equal(made(state, receive), -ECONNRESET);
	assert_int_equal(made(state, receive), 0);
	close(fds[0]);
}

/* ---- short reads ---- */

static void *count_turns(void *argument)
{
	long *turns = argument;

	while (*turns >= 0) {
		++*turns;
		ferry_thread_yield();
	}
	return NULL;
}

static long turns;

static void *read_twice(void *fd)
{
	char data[100];
	long first = ferry_read(*(const int *)fd, data, sizeof(data)), before = turns, second;

	second = ferry_read(*(const int *)fd, data, sizeof(data));
	before = turns - before;
	turns = -1;
	return (void *)(first == 3 && second == 2 ? before : -1L);
}

static void send_bytes(int fd)
{
	assert_int_equal(write(fd, "abc", 3), 3);
}

static void send_urgently(int fd)
{
	send_bytes(fd);
	assert_int_equal(send(fd, "!", 1, MSG_OOB), 1);
}

static void send_with_descriptor(int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] __attribute__((aligned(8))) = { 0 };
	struct iovec bytes = { "abc", 3 };
	const struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	assert_int_equal(sendmsg(fd, &message, 0), 3);
}

/* The reader waits until both parts have come, and not for the second one. */
static void read_both_parts(void **state, const int fds[2], void (*send_first)(int fd))
{
	struct ferry_thread *other, *reader = spawn(state, read_twice, (void *)&fds[0]);

	turns = 0;
	ferry_thread_yield();
	send_first(fds[1]);
	assert_int_equal(write(fds[1], "de", 2), 2);
	other = spawn(state, count_turns, &turns);
	assert_in_range(result_of(reader), 0, most_turns(3));
	result_of(other);
	close_both(fds);
}

static void urgent_data_is_no_end(void **state)
{
	int fds[2];

	tcp_pair(fds);
	read_both_parts(state, fds, send_urgently);
}

static void a_passed_descriptor_is_no_end(void **state)
{
	int fds[2];

	stream_pair(fds);
	read_both_parts(state, fds, send_with_descriptor);
}

static void a_packet_is_no_end(void **state)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_DIRECT), 0);
	read_both_parts(state, fds, send_bytes);
}

static void work(void)
{
	long end = now_ns() + 3000000; /* three times as long as events may be overlooked */

	while (now_ns() < end)
		;
}

static bool reads_again;

/* Its second attempt comes so late that others get their turn before it waits. */
static void *read_late(void *fd)
{
	char byte;
	long first = ferry_read(*(const int *)fd, &byte, 1), second, before = turns;

	work();
	reads_again = true;
	second = ferry_read(*(const int *)fd, &byte, 1);
	before = turns - before;
	turns = -1;
	return (void *)(first == 1 && second == 1 ? before : -1L);
}

static void *write_meanwhile(void *fd)
{
	long written;

	while (!reads_again)
		ferry_thread_yield();
	written = write(*(const int *)fd, "x", 1);
	work();
	return (void *)written;
}

static void *read_a_byte(void *fd)
{
	char byte;

	return (void *)ferry_read(*(const int *)fd, &byte, 1);
}

static void an_event_before_the_wait_counts(void **state)
{
	struct ferry_thread *reader, *idle, *writer, *other;
	int fds[2], unused[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pipe(unused), 0);
	turns = 0;
	reader = spawn(state, read_late, &fds[0]);
	idle = spawn(state, read_a_byte, &unused[0]);
	ferry_thread_yield();
	assert_int_equal(write(fds[1], "x", 1), 1);
	writer = spawn(state, write_meanwhile, &fds[1]);
	other = spawn(state, count_turns, &turns);
	assert_in_range(result_of(reader), 0, most_turns(20));
	assert_int_equal(result_of(writer), 1);
	result_of(other);
	assert_int_equal(write(unused[1], "x", 1), 1);
	assert_int_equal(result_of(idle), 1);
	close_both(fds);
	close_both(unused);
}

/* So many that stand-ins would begin if runners waited. */
#define SENDERS 3

/* ---- calls that do not wait ---- */

static void what_need_not_wait_returns(void **state)
{
	int fds[2], tube[2], datagrams[2], counter = eventfd(0, EFD_CLOEXEC);
	struct sockaddr_in address;
	int listener = listen_on(&address);
	char data[8];
	size_t i;

	stream_pair(fds);
	assert_int_equal(pipe(tube), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), 0);
	assert_int_equal(write(fds[1], "abc", 3), 3);
	const struct {
		struct call call;
		long result;
	} cases[] = {
		{ { SYS_read, { fds[0], (long)data, 8 } }, 3 },
		{ { SYS_read, { fds[0], (long)data, 0 } }, 0 },
		{ { SYS_read, { fds[0], (long)data, -1 } }, -EFAULT },
		{ { SYS_read, { counter, (long)data, 0 } }, -EINVAL },
		{ { SYS_accept4, { fds[0] } }, -EINVAL },
		{ { SYS_accept4, { tube[0] } }, -ENOTSOCK },
		{ { SYS_accept4, { listener, 0, 0, 1 } }, -EINVAL },
		{ { SYS_splice, { tube[0], 0, fds[0], 0, 0 } }, 0 },
		{ { SYS_splice, { fds[0], 0, fds[1], 0, 8 } }, -EINVAL },
		{ { SYS_write, { datagrams[1], (long)data, 0 } }, 0 },
		{ { SYS_recvfrom, { datagrams[0], (long)data, 8, MSG_DONTWAIT } }, 0 },
	};

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (made(state, cases[i].call) != cases[i].result)
			fail_msg("case %zu", i);
	close_both(fds);
	close_both(tube);
	close_both(datagrams);
	close(counter);
	close(listener);
}

/* There are numbers for the open descriptors only. */
static void limit_descriptors(struct rlimit *before)
{
	int next = dup(STDERR_FILENO);
	struct rlimit limit;

	close(next);
	getrlimit(RLIMIT_NOFILE, before);
	limit = *before;
	limit.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void accept_finds_no_number_at_once(void **state)
{
	struct sockaddr_in address;
	int listener = listen_on(&address), fds[2];
	const struct call calls[] = { { SYS_accept4, { listener } } };
	struct ferry_thread *idle;
	struct rlimit before;

	assert_int_equal(pipe(fds), 0);
	idle = spawn(state, read_a_byte, &fds[0]); /* the scheduler has its descriptors */
	ferry_thread_yield();
	limit_descriptors(&before);
	assert_same(state, calls, 1);
	assert_int_equal(made(state, calls[0]), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(idle), 1);
	close_both(fds);
	close(listener);
}

/* What they return after their time limit depends on the kind of socket. */
static void receives_of_no_bytes_have_a_time_limit(void **state)
{
	void (*make_pair[])(int fds[2]) = { stream_pair, tcp_pair };
	const struct timeval limit = { .tv_usec = 20000 };
	char byte;
	struct iovec part = { &byte, 0 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct mmsghdr messages = { .msg_hdr = message };
	int fds[2], i;

	for (i = 0; i < 2; i++) {
		make_pair[i](fds);
		setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		const struct call calls[] = {
			{ SYS_recvfrom, { fds[0], (long)&byte, 0 } },
			{ SYS_recvfrom, { fds[0], (long)&byte, 1 } },
			{ SYS_recvmsg, { fds[0], (long)&message } },
			{ SYS_recvmmsg, { fds[0], (long)&messages, 1 } },
			{ SYS_read, { fds[0], (long)&byte, 0 } },
		};
		assert_same(state, calls, sizeof(calls) / sizeof(calls[0]));
		close_both(fds);
	}
}

/* A call that does not wait does not find the end of a socket for datagrams. */
static void datagrams_may_end(void **state)
{
	char byte;
	struct call receive = { SYS_recvfrom, { 0, (long)&byte, 1 } };
	struct ferry_thread *reader;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	receive.arg[0] = fds[0];
	reader = spawn(state, make, &receive);
	assert_waits(reader);
	shutdown(fds[0], SHUT_RD);
	assert_int_equal(result_of(reader), 0);
	assert_int_equal(made(state, receive), 0);
	close_both(fds);
}

/* Its limit is looked at after each message: the first is waited for as long as it takes. */
static void messages_have_a_time_limit(void **state)
{
	char data[3];
	struct iovec parts[3] = { { &data[0], 1 }, { &data[1], 1 }, { &data[2], 1 } };
	struct mmsghdr messages[3] = { { .msg_hdr = { .msg_iov = &parts[0], .msg_iovlen = 1 } },
				       { .msg_hdr = { .msg_iov = &parts[1], .msg_iovlen = 1 } },
				       { .msg_hdr = { .msg_iov = &parts[2], .msg_iovlen = 1 } } };
	struct timespec limit = { .tv_nsec = 1000000 };
	struct call receive = { SYS_recvmmsg, { 0, (long)messages, 3, 0, (long)&limit } };
	struct ferry_thread *reader;
	int fds[2], i;

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	receive.arg[0] = fds[0];
	reader = spawn(state, make, &receive);
	assert_waits(reader);
	for (i = 0; i < 3; i++)
		assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(reader), 1);
	assert_int_equal(limit.tv_sec + limit.tv_nsec, 0);
	limit.tv_sec = 1000;
	reader = spawn(state, make, &receive);
	assert_waits(reader); /* for the third */
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(reader), 3);
	assert_in_range(limit.tv_sec, 900, 999);
	limit.tv_nsec = -1;
	assert_int_equal(made(state, receive), -EINVAL);
	receive.arg[4] = 8;
	assert_int_equal(made(state, receive), -EFAULT);
	close_both(fds);
}

static void no_runner_waits_for_messages_with_a_limit(void **state)
{
	struct mmsghdr messages[SENDERS] = { 0 };
	struct timespec limits[SENDERS];
	struct call calls[SENDERS];
	struct ferry_thread *readers[SENDERS];
	int fds[SENDERS][2], before = kernel_threads(), i;

	for (i = 0; i < SENDERS; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds[i]), 0);
		limits[i] = (struct timespec){ .tv_sec = 1000 };
		calls[i] =
			(struct call){ SYS_recvmmsg,
				       { fds[i][0], (long)&messages[i], 1, 0, (long)&limits[i] } };
		readers[i] = spawn(state, make, &calls[i]);
	}
	assert_waits(readers[0]);
	assert_int_equal(kernel_threads(), before);
	for (i = 0; i < SENDERS; i++) {
		assert_int_equal(write(fds[i][1], "x", 1), 1);
		assert_int_equal(result_of(readers[i]), 1);
		close_both(fds[i]);
	}
}

/* Messages that are received before the end are counted. */
static void several_datagrams_may_end(void **state)
{
	char data[2];
	struct iovec parts[2] = { { &data[0], 1 }, { &data[1], 1 } };
	struct mmsghdr messages[2] = { { .msg_hdr = { .msg_iov = &parts[0], .msg_iovlen = 1 } },
				       { .msg_hdr = { .msg_iov = &parts[1], .msg_iovlen = 1 } } };
	struct call receive = { SYS_recvmmsg, { 0, (long)messages, 2 } };
	struct ferry_thread *reader;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	receive.arg[0] = fds[0];
	reader = spawn(state, make, &receive);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_waits(reader);
	shutdown(fds[0], SHUT_RD);
	assert_in_range(result_of(reader), 1, 2);
	close_both(fds);
}

/* poll() does not report the end of a named pipe that nobody has opened for writing. */
static void a_named_pipe_may_have_no_writer(void **state)
{
	char path[] = "/tmp/ferry-fifo-XXXXXX", byte;
	int fd;

	assert_non_null(mkdtemp(path));
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	unlink(path);
	fcntl(fd, F_SETFL, 0);
	assert_int_equal(made(state, (struct call){ SYS_read, { fd, (long)&byte, 1 } }), 0);
	close(fd);
}

/* A socket of AF_UNIX does not report that it cannot be written any more. */
static void a_shutdown_ends_a_write(void **state)
{
	char *data = calloc(1, LARGE);
	struct call send = { SYS_write, { 0, (long)data, LARGE } };
	struct ferry_thread *writer;
	int fds[2];

	stream_pair(fds);
	send.arg[0] = fds[0];
	writer = spawn(state, make, &send);
	assert_waits(writer);
	assert_int_equal(made(state, (struct call){ SYS_shutdown, { fds[0], SHUT_WR } }), 0);
	assert_in_range(result_of(writer), 1, LARGE - 1);
	close_both(fds);
	free(data);
}

static void data_may_open_a_connection(void **state)
{
	struct sockaddr_in address;
	int listener = listen_on(&address), fd = socket(AF_INET, SOCK_STREAM, 0);
	long sent = made(state, (struct call){ SYS_sendto,
					       { fd, (long)"abc", 3, MSG_FASTOPEN, (long)&address,
						 sizeof(address) } });

	close(fd);
	close(listener);
	if (sent == -EOPNOTSUPP) /* net.ipv4.tcp_fastopen forbids it */
		skip();
	assert_int_equal(sent, 3);
}

static void a_terminal_may_return_nothing(void **state)
{
	struct termios mode;
	int master, slave;
	char byte;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	tcgetattr(slave, &mode);
	mode.c_lflag &= ~(tcflag_t)ICANON;
	mode.c_cc[VMIN] = mode.c_cc[VTIME] = 0;
	tcsetattr(slave, TCSANOW, &mode);
	assert_int_equal(made(state, (struct call){ SYS_read, { slave, (long)&byte, 1 } }), 0);
	mode.c_cc[VTIME] = 1;
	tcsetattr(slave, TCSANOW, &mode);
	assert_int_equal(made(state, (struct call){ SYS_read, { slave, (long)&byte, 1 } }), 0);
	close(master);
	close(slave);
}

/* ---- duplicates ---- */

static void only_a_duplicate_ends_a_wait(void **state)
{
	int fds[2], other[2];
	char byte;
	struct call receive = { SYS_read, { 0, (long)&byte, 1 } };
	struct ferry_thread *reader;

	stream_pair(fds);
	stream_pair(other);
	receive.arg[0] = fds[0];
	reader = spawn(state, make, &receive);
	ferry_thread_yield();
	assert_int_equal(made(state, (struct call){ SYS_dup3, { -1, fds[0], 0 } }), -EBADF);
	assert_int_equal(made(state, (struct call){ SYS_dup3, { other[0], fds[0], -1 } }), -EINVAL);
	assert_int_equal(made(state, (struct call){ SYS_dup3, { fds[0], fds[0], 0 } }), -EINVAL);
#ifdef SYS_dup2
	assert_int_equal(made(state, (struct call){ SYS_dup2, { -1, fds[0] } }), -EBADF);
	assert_int_equal(made(state, (struct call){ SYS_dup2, { fds[0], fds[0] } }), fds[0]);
#endif
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(reader), 1);
	reader = spawn(state, make, &receive);
	ferry_thread_yield();
	assert_int_equal(made(state, (struct call){ SYS_dup3, { other[0], fds[0], 0 } }), fds[0]);
	assert_int_equal(result_of(reader), -EBADF);
	close_both(fds);
	close_both(other);
}

/* ---- numbers and pointers ---- */

static long most_memory_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void a_large_number_takes_no_memory(void **state)
{
	long before = most_memory_kib();
	char byte;

	assert_int_equal(made(state, (struct call){ SYS_read, { INT_MAX, (long)&byte, 1 } }),
			 -EBADF);
	assert_int_equal(made(state, (struct call){ SYS_close, { INT_MAX } }), -EBADF);
	assert_in_range(most_memory_kib() - before, 0, 16000);
}

static void *constant_page(const void *data, size_t size)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, data, size);
	mprotect(page, 4096, size ? PROT_READ : PROT_NONE);
	return page;
}

static void bad_pointers_are_reported(void **state)
{
	long nowhere = (long)constant_page("", 0), constant_set;
	int fds[2], epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLOUT };
	struct timespec now = { 0 };
	fd_set set;

	stream_pair(fds);
	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	constant_set = (long)constant_page(&set, sizeof(set));
	epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
	const struct call calls[] = {
		{ SYS_ppoll, { nowhere, 1 } },
		{ SYS_ppoll, { 0, 0, nowhere } },
		{ SYS_pselect6, { fds[0] + 1, nowhere } },
		{ SYS_pselect6, { fds[0] + 1, constant_set, 0, 0, (long)&now } },
		{ SYS_pselect6, { 1, 0, 0, 0, nowhere } },
		{ SYS_pselect6, { 1, 0, 0, 0, 0, nowhere } },
		{ SYS_epoll_pwait, { epoll, nowhere, 1, -1 } },
#ifdef SYS_poll
		{ SYS_poll, { nowhere, 1, -1 } },
		{ SYS_select, { fds[0] + 1, 0, nowhere } },
		{ SYS_select, { 1, 0, 0, 0, nowhere } },
		{ SYS_epoll_wait, { epoll, nowhere, 1, -1 } },
#endif
	};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (made(state, calls[i]) != -EFAULT)
			fail_msg("call %zu", i);
	munmap((void *)nowhere, 4096);
	munmap((void *)constant_set, 4096);
	close(epoll);
	close_both(fds);
}

static void time_limits_may_be_constant(void **state)
{
	static const struct timespec limit = { .tv_nsec = 1000000 };
	static const struct timeval older = { .tv_usec = 1000 };
	long constant = (long)constant_page(&limit, sizeof(limit));

	assert_int_equal(made(state, (struct call){ SYS_ppoll, { 0, 0, constant } }), 0);
	assert_int_equal(made(state, (struct call){ SYS_pselect6, { 0, 0, 0, 0, constant } }), 0);
	munmap((void *)constant, 4096);
	constant = (long)constant_page(&older, sizeof(older));
#ifdef SYS_select
	assert_int_equal(made(state, (struct call){ SYS_select, { 0, 0, 0, 0, constant } }), 0);
#endif
	munmap((void *)constant, 4096);
}

/* ---- epolls of epolls ---- */

#define NESTED 6

static void *write_later(void *fd)
{
	ferry_thread_sleep(5000000);
	return (void *)ferry_write(*(const int *)fd, "x", 1);
}

/* The scheduler's epoll cannot take one so deep, and others run all the same. */
static void epolls_may_be_nested(void **state)
{
	int fds[2], epoll[NESTED], i;
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd polled = { .events = POLLIN };
	struct ferry_thread *writer;
	char byte;
	fd_set set;

	stream_pair(fds);
	for (i = 0; i < NESTED; i++) {
		epoll[i] = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(epoll[i], EPOLL_CTL_ADD, i ? epoll[i - 1] : fds[0], &event);
	}
	polled.fd = epoll[NESTED - 2]; /* the deepest that a plain poll() takes is less deep */
	const struct call calls[] = {
		{ SYS_ppoll, { (long)&polled, 1 } },
		{ SYS_pselect6, { polled.fd + 1, (long)&set } },
		{ SYS_epoll_pwait, { epoll[NESTED - 2], (long)&event, 1, -1 } },
#ifdef SYS_poll
		{ SYS_poll, { (long)&polled, 1, -1 } },
		{ SYS_select, { polled.fd + 1, (long)&set } },
		{ SYS_epoll_wait, { epoll[NESTED - 2], (long)&event, 1, -1 } },
#endif
	};
	for (i = 0; i < (int)(sizeof(calls) / sizeof(calls[0])); i++) {
		FD_ZERO(&set);
		FD_SET(polled.fd, &set);
		writer = spawn(state, write_later, &fds[1]);
		assert_int_equal(made(state, calls[i]), 1);
		assert_int_equal(result_of(writer), 1);
		assert_int_equal(read(fds[0], &byte, 1), 1);
	}
	for (i = 0; i < NESTED; i++)
		close(epoll[i]);
	close_both(fds);
}

/* ---- calls that move data ---- */

static void no_runner_waits_to_send_a_file(void **state)
{
	int before = kernel_threads(), file = memfd_create("file", MFD_CLOEXEC), fds[SENDERS][2], i;
	struct ferry_thread *senders[SENDERS];
	struct call calls[SENDERS];
	char *data = malloc(LARGE);
	long offsets[SENDERS] = { 0 };

	assert_int_equal(ftruncate(file, LARGE), 0);
	assert_int_equal(pwrite(file, "end", 3, LARGE - 3), 3);
	for (i = 0; i < SENDERS; i++) {
		stream_pair(fds[i]);
		calls[i] = (struct call){ SYS_sendfile,
					  { fds[i][1], file, (long)&offsets[i], LARGE + 1 } };
		senders[i] = spawn(state, make, &calls[i]);
	}
	assert_waits(senders[0]);
	assert_int_equal(kernel_threads(), before);
	for (i = 0; i < SENDERS; i++) {
		assert_int_equal(
			made(state, (struct call){ SYS_recvfrom,
						   { fds[i][0], (long)data, LARGE, MSG_WAITALL } }),
			LARGE);
		assert_memory_equal(data + LARGE - 3, "end", 3);
		assert_int_equal(result_of(senders[i]), LARGE);
		assert_int_equal(offsets[i], LARGE);
		close_both(fds[i]);
	}
	free(data);
	close(file);
}

/* A pair with room for little. */
static void narrow_pair(int fds[2])
{
	int size = 8192;

	tcp_pair(fds);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

#define FILE_SIZE 100000

static int new_file(void)
{
	int file = memfd_create("file", MFD_CLOEXEC), i;

	for (i = 0; i < FILE_SIZE; i += 10)
		assert_int_equal(dprintf(file, "%9d\n", i), 10);
	lseek(file, 10, SEEK_SET);
	return file;
}

static void no_runner_waits_for_room_in_a_socket(void **state)
{
	int before = kernel_threads(), fds[SENDERS][2], files[SENDERS], i;
	struct ferry_thread *senders[SENDERS];
	struct call calls[SENDERS];
	char data[11] = { 0 };
	long sent;

	for (i = 0; i < SENDERS; i++) {
		narrow_pair(fds[i]);
		files[i] = new_file();
		calls[i] = (struct call){ SYS_sendfile, { fds[i][1], files[i], 0, 80000 } };
		senders[i] = spawn(state, make, &calls[i]);
	}
	for (i = 0; i < SENDERS; i++)
		assert_waits(senders[i]);
	assert_int_equal(kernel_threads(), before);
	for (i = 0; i < SENDERS; i++) {
		for (sent = 0; sent < 80000; sent += 10) {
			const struct call receive = { SYS_recvfrom,
						      { fds[i][0], (long)data, 10, MSG_WAITALL } };
			assert_int_equal(made(state, receive), 10);
			assert_int_equal(strtol(data, NULL, 10), sent + 10);
		}
		assert_int_equal(result_of(senders[i]), 80000);
		assert_int_equal(lseek(files[i], 0, SEEK_CUR), 80010);
		close_both(fds[i]);
		close(files[i]);
	}
}

static void a_part_of_a_file_is_sent(void **state)
{
	struct ferry_thread *sender;
	int fds[2], file = new_file();
	struct call send = { SYS_sendfile, { 0, file, 0, FILE_SIZE } };
	long sent;

	narrow_pair(fds);
	send.arg[0] = fds[1];
	sender = spawn(state, make, &send);
	assert_waits(sender);
	receive_1000_bytes(state, fds[0]);
	close(fds[0]);
	sent = result_of(sender);
	assert_in_range(sent, 1000, FILE_SIZE - 11);
	assert_int_equal(lseek(file, 0, SEEK_CUR), 10 + sent);
	close(fds[1]);
	close(file);
}

/* A socket that has room for more reports nothing: a wait would last until the time limit. */
static void a_file_is_sent_without_a_wait(void **state)
{
	const struct timeval limit = { .tv_usec = 1000 };
	int fds[2], file = new_file();

	stream_pair(fds);
	setsockopt(fds[1], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	assert_int_equal(made(state, (struct call){ SYS_sendfile, { fds[1], file, 0, FILE_SIZE } }),
			 FILE_SIZE - 10);
	close_both(fds);
	close(file);
}

static void what_cannot_be_sent_is_reported(void **state)
{
	int fds[2], tube[2], file = new_file(), folder = open("/tmp", O_DIRECTORY | O_CLOEXEC);
	int write_only = open("/dev/null", O_WRONLY | O_CLOEXEC);
	long negative = -1, far = LONG_MAX;

	stream_pair(fds);
	assert_int_equal(pipe(tube), 0);
	const struct call calls[] = {
		{ SYS_sendfile, { fds[1], file, 0, -1 } },
		{ SYS_sendfile, { fds[1], file, 0, 0 } },
		{ SYS_sendfile, { fds[1], file, 8, 10 } },
		{ SYS_sendfile, { fds[1], file, (long)&negative, 10 } },
		{ SYS_sendfile, { fds[1], file, (long)&far, 10 } },
		{ SYS_sendfile, { fds[1], -1, 0, 10 } },
		{ SYS_sendfile, { fds[1], folder, 0, 10 } },
		{ SYS_sendfile, { fds[1], write_only, 0, 10 } },
		{ SYS_sendfile, { fds[1], tube[0], 0, 10 } },
		{ SYS_sendfile, { fds[1], fds[0], 0, 10 } },
		{ SYS_sendfile, { tube[0], file, 0, 10 } },
	};
	assert_same(state, calls, sizeof(calls) / sizeof(calls[0]));
	assert_int_equal(recv(fds[0], &far, 1, MSG_DONTWAIT), -1);
	close_both(fds);
	close_both(tube);
	close(file);
	close(folder);
	close(write_only);
}

/* Although neither pipe is ready, nor the socket to be read. */
static void what_cannot_be_spliced_is_reported(void **state)
{
	int empty[2], full[2], fds[2], file = open("/tmp", O_TMPFILE | O_RDWR | O_APPEND, 0600);
	static char data[4096];
	struct iovec none = { data, 0 };
	long offset = 0;

	stream_pair(fds);
	assert_int_equal(pipe(empty), 0);
	assert_int_equal(pipe(full), 0);
	fcntl(full[1], F_SETPIPE_SZ, 4096);
	assert_int_equal(write(full[1], data, 4096), 4096);
	const struct call calls[] = {
		{ SYS_splice, { empty[0], 0, empty[1], 0, 10 } },
		{ SYS_splice, { empty[1], 0, full[1], 0, 10 } },
		{ SYS_splice, { empty[0], 0, full[0], 0, 10 } },
		{ SYS_splice, { empty[0], 0, file, 0, 10 } },
		{ SYS_splice, { empty[0], 0, file, 8, 10 } },
		{ SYS_splice, { empty[0], 0, fds[0], (long)&offset, 10 } },
		{ SYS_splice, { fds[0], (long)&offset, empty[1], 0, 10 } },
		{ SYS_splice, { fds[0], 0, empty[0], 0, 10 } },
		{ SYS_splice, { empty[1], 0, fds[0], 0, 10 } },
		{ SYS_tee, { empty[0], empty[1], 10 } },
		{ SYS_tee, { empty[1], full[1], 10 } },
		{ SYS_vmsplice, { empty[0], 8, 1 } },
		{ SYS_vmsplice, { empty[0], (long)&none, 1 } },
		{ SYS_vmsplice, { full[1], 8, 1 } },
		{ SYS_vmsplice, { full[1], (long)&none, 1 } },
	};
	assert_same(state, calls, sizeof(calls) / sizeof(calls[0]));
	close_both(fds);
	close_both(empty);
	close_both(full);
	close(file);
}

static void splicing_ends_with_its_time_limit(void **state)
{
	const struct timeval limit = { .tv_usec = 20000 };
	int fds[2], tube[2];

	tcp_pair(fds);
	assert_int_equal(pipe(tube), 0);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	assert_int_equal(made(state, (struct call){ SYS_splice, { fds[0], 0, tube[1], 0, 10 } }),
			 -EAGAIN);
	close_both(fds);
	close_both(tube);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_defaults, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(at_least_so_many_bytes_are_received),
		TEST(all_bytes_are_looked_at),
		TEST(a_part_is_written_without_a_signal),
		TEST(a_part_is_received_before_the_error),
		TEST(urgent_data_is_no_end),
		TEST(a_passed_descriptor_is_no_end),
		TEST(a_packet_is_no_end),
		TEST(an_event_before_the_wait_counts),
		TEST(what_need_not_wait_returns),
		TEST(accept_finds_no_number_at_once),
		TEST(receives_of_no_bytes_have_a_time_limit),
		TEST(datagrams_may_end),
		TEST(messages_have_a_time_limit),
		TEST(no_runner_waits_for_messages_with_a_limit),
		TEST(several_datagrams_may_end),
		TEST(a_named_pipe_may_have_no_writer),
		TEST(a_shutdown_ends_a_write),
		TEST(data_may_open_a_connection),
		TEST(a_terminal_may_return_nothing),
		TEST(only_a_duplicate_ends_a_wait),
		TEST(a_large_number_takes_no_memory),
		TEST(bad_pointers_are_reported),
		TEST(time_limits_may_be_constant),
		TEST(epolls_may_be_nested),
		TEST(no_runner_waits_to_send_a_file),
		TEST(no_runner_waits_for_room_in_a_socket),
		TEST(a_part_of_a_file_is_sent),
		TEST(a_file_is_sent_without_a_wait),
		TEST(what_cannot_be_sent_is_reported),
		TEST(what_cannot_be_spliced_is_reported),
		TEST(splicing_ends_with_its_time_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* User-level threads whose calls wait for descriptors: no runner waits with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ferry_flexsc.h>

#include "fixture.h"
#include "tests/lib/unit/child.h"
#include "waits.h"

#define MANY 500

/* ---- waiting ---- */

static void *read_byte(void *fd)
{
	char byte;

	return (void *)ferry_read(*(const int *)fd, &byte, 1);
}

static void no_runner_waits(void **state, int (*make_pair)(int fds[2]))
{
	static int fds[MANY][2];
	struct ferry_thread *readers[MANY];
	int before = kernel_threads(), i;

	for (i = 0; i < MANY; i++) {
		assert_int_equal(make_pair(fds[i]), 0);
		readers[i] = spawn(state, read_byte, &fds[i][0]);
	}
	ferry_thread_sleep(20000000);
	assert_int_equal(kernel_threads(), before);
	for (i = MANY; i--;)
		assert_int_equal(write(fds[i][1], "x", 1), 1);
	for (i = 0; i < MANY; i++) {
		assert_int_equal(result_of(readers[i]), 1);
		close_both(fds[i]);
	}
	assert_int_equal(kernel_threads(), before);
}

static int make_stream(int fds[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
}

static int make_datagram(int fds[2])
{
	return socketpair(AF_UNIX, SOCK_DGRAM, 0, fds);
}

static void no_runner_waits_for_pipes(void **state)
{
	no_runner_waits(state, pipe);
}

static void no_runner_waits_for_streams(void **state)
{
	no_runner_waits(state, make_stream);
}

static void no_runner_waits_for_datagrams(void **state)
{
	no_runner_waits(state, make_datagram);
}

/* ---- each call ---- */

struct exchange {
	int fds[2];
	size_t size;
	char *data;
};

static void *receive_all(void *argument)
{
	struct exchange *exchange = argument;

	return (void *)ferry_recv(exchange->fds[0], exchange->data, exchange->size, MSG_WAITALL);
}

static void *send_all(void *argument)
{
	struct exchange *exchange = argument;

	return (void *)ferry_write(exchange->fds[1], exchange->data, exchange->size);
}

static void *sendv_all(void *argument)
{
	struct exchange *exchange = argument;
	size_t half = exchange->size / 2;
	const struct iovec parts[] = { { exchange->data, 5 },
				       { NULL, 0 },
				       { exchange->data + 5, half },
				       { exchange->data + 5 + half, exchange->size - half - 5 } };

	return (void *)ferry_writev(exchange->fds[1], parts, 4);
}

static void *sendmsg_all(void *argument)
{
	struct exchange *exchange = argument;
	struct iovec parts[] = { { exchange->data, 100000 },
				 { exchange->data + 100000, exchange->size - 100000 } };
	const struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	return (void *)ferry_sendmsg(exchange->fds[1], &message, 0);
}

static void *read_all(void *argument)
{
	struct exchange *exchange = argument;
	size_t done = 0;
	long length;

	while (done < exchange->size) {
		length = ferry_read(exchange->fds[0], exchange->data + done, exchange->size - done);
		if (length <= 0)
			break;
		done += (size_t)length;
	}
	return (void *)done;
}

#define LARGE 3000000

/* Far more than fits into the buffers between: both calls wait several times, and do it all. */
static void all_is_exchanged(void **state, int (*make_pair)(int fds[2]), void *(*sender)(void *),
			     void *(*receiver)(void *))
{
	struct exchange in = { .size = LARGE }, out = { .size = LARGE };
	struct ferry_thread *sending, *receiving;
	size_t i;

	assert_int_equal(make_pair(in.fds), 0);
	memcpy(out.fds, in.fds, sizeof(in.fds));
	in.data = calloc(1, LARGE);
	out.data = malloc(LARGE);
	for (i = 0; i < LARGE; i++)
		out.data[i] = (char)(i * 7 / 5);
	sending = spawn(state, sender, &out);
	receiving = spawn(state, receiver, &in);
	assert_int_equal(result_of(sending), LARGE);
	assert_int_equal(result_of(receiving), LARGE);
	assert_memory_equal(in.data, out.data, LARGE);
	free(in.data);
	free(out.data);
	close_both(in.fds);
}

static void a_call_writes_all_its_bytes(void **state)
{
	all_is_exchanged(state, make_stream, send_all, receive_all);
	all_is_exchanged(state, make_stream, sendv_all, read_all);
	all_is_exchanged(state, make_stream, sendmsg_all, receive_all);
	all_is_exchanged(state, pipe, send_all, read_all);
	all_is_exchanged(state, pipe, sendv_all, read_all);
}

static void *accept_and_read(void *listener)
{
	long fd = ferry_accept4(*(const int *)listener, NULL, NULL, SOCK_CLOEXEC);
	char byte = 0;

	if (fd < 0 || ferry_recv((int)fd, &byte, 1, 0) != 1)
		return NULL;
	ferry_close((int)fd);
	return (void *)(long)byte;
}

static void *connect_and_write(void *address)
{
	long fd = ferry_thread_call3(SYS_socket, AF_INET, SOCK_STREAM, 0);

	if (ferry_connect((int)fd, address, sizeof(struct sockaddr_in)))
		return (void *)-1;
	ferry_send((int)fd, "x", 1, 0);
	return (void *)ferry_close((int)fd);
}

/* Accepted descriptors get the numbers of those that were closed. */
static void connections_are_accepted(void **state)
{
	struct ferry_thread *servers[20], *clients[20];
	struct sockaddr_in address;
	int listener = listen_on(&address), i, round;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < 20; i++)
			servers[i] = spawn(state, accept_and_read, &listener);
		for (i = 0; i < 20; i++)
			clients[i] = spawn(state, connect_and_write, &address);
		for (i = 0; i < 20; i++) {
			assert_int_equal(result_of(servers[i]), 'x');
			assert_int_equal(result_of(clients[i]), 0);
		}
	}
	close(listener);
}

/* ---- connecting ---- */

/* Of each kernel thread: it takes more than the stack of a thread that only connects. */
static _Thread_local char large[1 << 17] __attribute__((__used__));

#define CLIENTS 4

static struct sockaddr_un full_address;

static void *connect_unix(void *unused)
{
	long fd = ferry_thread_call3(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
	long error =
		ferry_connect((int)fd, (struct sockaddr *)&full_address, sizeof(sa_family_t) + 6);

	(void)unused;
	ferry_close((int)fd);
	return (void *)error;
}

static void *accept_later(void *listener)
{
	long fd;
	int i;

	ferry_thread_sleep(5000000);
	for (i = 0; i < CLIENTS; i++) {
		fd = ferry_accept4(*(const int *)listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			return (void *)fd;
		ferry_close((int)fd);
	}
	return NULL;
}

/* Its queue is full until the thread that accepts runs. */
static void others_run_while_a_thread_connects(void **state)
{
	struct ferry_thread *clients[CLIENTS], *server;
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), i;
	socklen_t size = sizeof(full_address);

	full_address.sun_family = AF_UNIX;
	/* The kernel chooses an abstract address of five digits. */
	assert_int_equal(bind(listener, (struct sockaddr *)&full_address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&full_address, &size), 0);
	assert_int_equal(size, sizeof(sa_family_t) + 6);
	assert_int_equal(listen(listener, 0), 0);
	for (i = 0; i < CLIENTS; i++)
		clients[i] = spawn(state, connect_unix, NULL);
	server = spawn(state, accept_later, &listener);
	for (i = 0; i < CLIENTS; i++)
		assert_int_equal(result_of(clients[i]), 0);
	assert_int_equal(result_of(server), 0);
	close(listener);
}

static void *connect_to(void *address)
{
	const struct timeval limit = { .tv_usec = 50000 };
	long fd = ferry_thread_call3(SYS_socket, AF_INET, SOCK_STREAM, 0);
	long error;

	setsockopt((int)fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	error = ferry_connect((int)fd, address, sizeof(struct sockaddr_in));
	if (!error && fcntl((int)fd, F_GETFL) & O_NONBLOCK)
		error = -1;
	ferry_close((int)fd);
	return (void *)error;
}

static void a_refused_connection_is_reported(void **state)
{
	struct sockaddr_in address;

	close(listen_on(&address));
	assert_int_equal(result_of(spawn(state, connect_to, &address)), -ECONNREFUSED);
}

/* A listener whose queue is full does not answer. */
static void connecting_ends_with_its_time_limit(void **state)
{
	struct sockaddr_in address;
	int listener = listen_on(&address), fds[2], i;

	assert_int_equal(listen(listener, 0), 0);
	assert_int_equal(result_of(spawn(state, connect_to, &address)), 0);
	for (i = 0; i < 2; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(fds[i], (struct sockaddr *)&address, sizeof(address)))
			assert_int_equal(errno, EINPROGRESS);
	}
	assert_int_equal(result_of(spawn(state, connect_to, &address)), -EINPROGRESS);
	close(fds[0]);
	close(fds[1]);
	close(listener);
}

/* ---- the socket's flags ---- */

static void die_at_change_of_flags(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_SETFL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	CHILD_ASSERT(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHILD_ASSERT(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void connect_two(void)
{
	struct ferry_thread *threads[2];
	struct ferry_flexsc *flexsc;
	struct sockaddr_in address;
	void *state;
	int i;

	listen_on(&address);
	die_at_change_of_flags();
	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	state = flexsc;
	for (i = 0; i < 2; i++)
		threads[i] = spawn(&state, connect_to, &address);
	for (i = 0; i < 2; i++)
		CHILD_ASSERT(result_of(threads[i]) == 0);
}

/* Forbids epoll_pwait2(), and ends the process when epoll_pwait() is to wait. */
static void die_in_epoll_pwait(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 441 /* epoll_pwait2 */, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	CHILD_ASSERT(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHILD_ASSERT(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void *sleep_a_little(void *argument)
{
	ferry_thread_sleep(50000000);
	return argument;
}

static void sleep_in_sandbox(void)
{
	struct ferry_flexsc *flexsc;
	void *state;

	die_in_epoll_pwait();
	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	state = flexsc;
	result_of(spawn(&state, sleep_a_little, NULL));
}

/* Where a filter forbids calls newer than its list, threads wait in the older one, and do not spin.
 */
static void a_filter_may_forbid_epoll_pwait2(void **state)
{
	int status;

	(void)state;
	SKIP_IF_FORKS_CONFUSE;
	status = child_status(sleep_in_sandbox);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

/* Whoever shares the socket would not wait either. */
static void a_socket_that_connects_keeps_its_flags(void **state)
{
	(void)state;
	SKIP_IF_FORKS_CONFUSE;
	ASSERT_IN_CHILD(connect_two);
}

/* ---- several messages, several descriptors ---- */

static void *receive_messages(void *fd)
{
	struct mmsghdr messages[3] = { 0 };
	struct iovec parts[3];
	char data[3];
	int i;

	for (i = 0; i < 3; i++) {
		parts[i] = (struct iovec){ &data[i], 1 };
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	if (ferry_thread_call(SYS_recvmmsg, *(int *)fd, (long)messages, 3, 0, 0, 0) != 3 ||
	    messages[2].msg_len != 1)
		return (void *)-1;
	return (void *)(long)(data[0] + data[1] + data[2] - 'a' - 'b' - 'c');
}

static void *send_messages(void *fd)
{
	int i;

	for (i = 0; i < 3; i++) {
		ferry_thread_sleep(1000000);
		ferry_send(*(int *)fd, &"abc"[i], 1, 0);
	}
	return NULL;
}

/* A thread waits for messages while another sends them. */
static void messages_reach(void **state, void *(*receive)(void *fd), long result)
{
	struct ferry_thread *receiver, *sender;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	receiver = spawn(state, receive, &fds[0]);
	sender = spawn(state, send_messages, &fds[1]);
	assert_int_equal(result_of(receiver), result);
	assert_int_equal(result_of(sender), 0);
	close_both(fds);
}

static void several_messages_are_waited_for(void **state)
{
	messages_reach(state, receive_messages, 0);
}

static void *ppoll_long(void *fd)
{
	struct pollfd poll = { .fd = *(int *)fd, .events = POLLIN };
	struct timespec limit = { .tv_sec = 1000 };
	long found = ferry_thread_call(SYS_ppoll, (long)&poll, 1, (long)&limit, 0, 0, 0);

	return (void *)(found == 1 && limit.tv_sec >= 900 && limit.tv_sec < 1000 ? 0L : -1L);
}

static void *ppoll_in_vain(void *fd)
{
	struct pollfd poll = { .fd = *(int *)fd, .events = POLLPRI };
	struct timespec limit = { .tv_nsec = 2000000 };
	long found = ferry_thread_call(SYS_ppoll, (long)&poll, 1, (long)&limit, 0, 0, 0);

	return (void *)(long)(found || limit.tv_sec || limit.tv_nsec);
}

static void others_run_during_ppoll(void **state)
{
	struct ferry_thread *one, *other, *sender;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	one = spawn(state, ppoll_long, &fds[0]);
	other = spawn(state, ppoll_in_vain, &fds[0]);
	sender = spawn(state, send_messages, &fds[1]);
	assert_int_equal(result_of(one), 0);
	assert_int_equal(result_of(other), 0);
	assert_int_equal(result_of(sender), 0);
	close_both(fds);
}

static void *poll_for_ages(void *fd)
{
	struct pollfd poll = { .fd = *(int *)fd, .events = POLLIN };
	struct timespec limit = { .tv_sec = LONG_MAX };
	fd_set in;

	if (ferry_thread_call(SYS_ppoll, (long)&poll, 1, (long)&limit, 0, 0, 0) != 1)
		return (void *)-1;
	limit = (struct timespec){ .tv_sec = LONG_MAX };
	FD_ZERO(&in);
	FD_SET(poll.fd, &in);
	return (void *)ferry_thread_call(SYS_pselect6, poll.fd + 1, (long)&in, 0, 0, (long)&limit,
					 0);
}

/* Programs write "for ever" as the largest time there is. */
static void others_run_during_the_longest_wait(void **state)
{
	messages_reach(state, poll_for_ages, 1);
}

static void *sleep_for_ages(void *argument)
{
	ferry_thread_sleep(LONG_MAX);
	return argument;
}

static void join_in_vain(void)
{
	struct ferry_flexsc *flexsc;
	struct ferry_thread *sleeper;

	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	CHILD_ASSERT(!ferry_thread_spawn(&sleeper, flexsc, sleep_for_ages, NULL));
	CHILD_ASSERT(ferry_thread_join_for(sleeper, NULL, 1000000) == -ETIMEDOUT);
}

static void the_longest_sleep_does_not_end(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(join_in_vain);
}

/* ---- select ---- */

static void *select_one(void *fd)
{
	struct timeval limit = { .tv_sec = 1000 };
	fd_set in, out;
	int one = *(int *)fd;
	long found;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(one, &in);
	found = ferry_thread_call(SYS_pselect6, one + 1, (long)&in, (long)&out, 0,
				  (long)&(struct timespec){ .tv_sec = 1000 }, 0);
	if (found != 1 || !FD_ISSET(one, &in))
		return (void *)-1;
#ifdef SYS_select
	found = ferry_thread_call(SYS_select, one + 1, (long)&in, 0, 0, (long)&limit, 0);
	if (found != 1 || !FD_ISSET(one, &in) || limit.tv_sec < 900)
		return (void *)-2;
#endif
	return (void *)ferry_thread_call(SYS_pselect6, one + 1, (long)&in, 0, 0, (long)&limit, 0);
}

static void *select_in_vain(void *fd)
{
	struct timespec limit = { .tv_nsec = 2000000 };
	int one = *(int *)fd;
	fd_set exceptions;
	long found;

	FD_ZERO(&exceptions);
	FD_SET(one, &exceptions);
	found = ferry_thread_call(SYS_pselect6, one + 1, 0, 0, (long)&exceptions, (long)&limit, 0);
	return (void *)(long)(found || FD_ISSET(one, &exceptions) || limit.tv_nsec);
}

static void others_run_during_select(void **state)
{
	struct ferry_thread *one, *other, *sender;
	int before = kernel_threads(), fds[2], closed = dup(0);

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
	one = spawn(state, select_one, &fds[0]);
	other = spawn(state, select_in_vain, &fds[0]);
	sender = spawn(state, send_messages, &fds[1]);
	assert_int_equal(result_of(one), 1);
	assert_int_equal(result_of(other), 0);
	assert_int_equal(result_of(sender), 0);
	assert_int_equal(kernel_threads(), before);
	close(closed);
	assert_int_equal(result_of(spawn(state, select_in_vain, &closed)), 1); /* EBADF */
	close_both(fds);
}

/* ---- many messages to send ---- */

#define MESSAGES 40

static char message_data[MESSAGES][20000];

static void *send_many(void *fd)
{
	struct mmsghdr messages[MESSAGES] = { 0 };
	struct iovec parts[MESSAGES];
	long sent;
	int i;

	for (i = 0; i < MESSAGES; i++) {
		memset(message_data[i], 'a' + i % 26, sizeof(message_data[i]));
		parts[i] = (struct iovec){ message_data[i], sizeof(message_data[i]) };
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	sent = ferry_thread_call(SYS_sendmmsg, *(int *)fd, (long)messages, MESSAGES, 0, 0, 0);
	for (i = 0; i < MESSAGES; i++)
		if (messages[i].msg_len != sizeof(message_data[i]))
			return (void *)-1;
	return (void *)sent;
}

static void *receive_many(void *fd)
{
	char data[sizeof(message_data[0])];
	size_t total = 0;
	long length;

	while (total < sizeof(message_data)) {
		length = ferry_recv(*(int *)fd, data, sizeof(data), 0);
		if (length <= 0 || data[0] != message_data[total / sizeof(data)][0])
			return (void *)-1;
		total += (size_t)length;
	}
	return (void *)total;
}

static void many_are_sent(void **state, int (*make_pair)(int fds[2]))
{
	struct ferry_thread *sender, *receiver;
	int before = kernel_threads(), fds[2];

	assert_int_equal(make_pair(fds), 0);
	sender = spawn(state, send_many, &fds[0]);
	receiver = spawn(state, receive_many, &fds[1]);
	assert_int_equal(result_of(sender), MESSAGES);
	assert_int_equal(result_of(receiver), sizeof(message_data));
	assert_int_equal(kernel_threads(), before);
	close_both(fds);
}

static void many_messages_are_sent(void **state)
{
	many_are_sent(state, make_stream);
	many_are_sent(state, make_datagram);
}

/* ---- splicing ---- */

struct splicing {
	int from, to;
	long nr;
	struct iovec part;
};

static void *splice_some(void *argument)
{
	const struct splicing *splicing = argument;

	if (splicing->nr == SYS_splice)
		return (void *)ferry_thread_call(SYS_splice, splicing->from, 0, splicing->to, 0,
						 100, 0);
	if (splicing->nr == SYS_tee)
		return (void *)ferry_thread_call(SYS_tee, splicing->from, splicing->to, 100, 0, 0,
						 0);
	return (void *)ferry_thread_call(SYS_vmsplice, splicing->from, (long)&splicing->part, 1, 0,
					 0, 0);
}

static void fill_pipe(int fd)
{
	static const char data[65536];
	long size = fcntl(fd, F_GETPIPE_SZ);

	while (size > 0)
		size -= write(fd, data, size < 65536 ? (size_t)size : sizeof(data));
}

static void no_runner_waits_to_splice(void **state)
{
	struct ferry_thread *threads[4];
	char data[65536];
	int source[2], other[2], full[2], pair[2], before = kernel_threads(), i;
	struct splicing splicings[4] = { { .nr = SYS_splice },
					 { .nr = SYS_splice },
					 { .nr = SYS_tee },
					 { .nr = SYS_vmsplice, .part = { data, 10 } } };

	assert_int_equal(pipe(source), 0);
	assert_int_equal(pipe(other), 0);
	assert_int_equal(pipe(full), 0);
	stream_pair(pair);
	fill_pipe(full[1]);
	splicings[0].from = source[0], splicings[0].to = pair[0]; /* nothing to read */
	splicings[1].from = pair[0], splicings[1].to = other[1];
	splicings[2].from = other[0], splicings[2].to = full[1];
	splicings[3].from = full[1]; /* no room to write */
	for (i = 0; i < 4; i++)
		threads[i] = spawn(state, splice_some, &splicings[i]);
	ferry_thread_sleep(5000000);
	assert_int_equal(kernel_threads(), before);
	assert_int_equal(write(pair[1], "ab", 2), 2);
	assert_int_equal(result_of(threads[1]), 2);
	assert_int_equal(write(source[1], "cde", 3), 3);
	assert_int_equal(result_of(threads[0]), 3);
	assert_int_equal(read(full[0], data, sizeof(data)), sizeof(data));
	assert_int_equal(result_of(threads[2]), 2);
	assert_int_equal(result_of(threads[3]), 10);
	assert_int_equal(kernel_threads(), before);
	splicings[0].from = -1;
	assert_int_equal(result_of(spawn(state, splice_some, &splicings[0])), -EBADF);
	fcntl(source[0], F_SETFL, O_NONBLOCK);
	splicings[0].from = source[0], splicings[0].to = other[1];
	assert_int_equal(result_of(spawn(state, splice_some, &splicings[0])), -EAGAIN);
	close_both(source);
	close_both(other);
	close_both(full);
	close_both(pair);
}

static void *read_event(void *fd)
{
	long count = 0;

	return ferry_read(*(const int *)fd, &count, sizeof(count)) == 8 ? (void *)count : NULL;
}

static void *write_event(void *fd)
{
	long count = 5;

	return (void *)ferry_write(*(const int *)fd, &count, sizeof(count));
}

static void an_eventfd_is_waited_for(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	struct ferry_thread *reader = spawn(state, read_event, &fd);
	struct ferry_thread *writer = spawn(state, write_event, &fd);

	assert_int_equal(result_of(reader), 5);
	assert_int_equal(result_of(writer), 8);
	close(fd);
}

static void *poll_two(void *argument)
{
	const int *fds = argument;
	struct pollfd polled[] = { { fds[0], POLLIN, 0 }, { -1, 0, 0 }, { fds[1], POLLIN, 0 } };

	if (ferry_poll(polled, 3, 10000) != 1)
		return NULL;
	return (void *)(long)(polled[0].revents | polled[2].revents << 8);
}

static void *poll_in_vain(void *argument)
{
	struct pollfd polled = { *(const int *)argument, POLLIN, 0 };

	return (void *)ferry_poll(&polled, 1, 5);
}

static void poll_waits_for_several(void **state)
{
	int first[2], second[2], both[2];
	struct ferry_thread *thread;

	stream_pair(first);
	stream_pair(second);
	both[0] = first[0];
	both[1] = second[0];
	thread = spawn(state, poll_two, both);
	assert_int_equal(result_of(spawn(state, poll_in_vain, &first[0])), 0);
	assert_int_equal(write(second[1], "x", 1), 1);
	assert_int_equal(result_of(thread), POLLIN << 8);
	close_both(first);
	close_both(second);
}

static void *poll_a_file_too(void *argument)
{
	const int *fds = argument;
	struct pollfd polled[] = { { fds[0], POLLPRI, 0 }, { fds[1], POLLIN, 0 } };
	struct timespec limit = { .tv_nsec = 1000 };
	fd_set exceptions;
	long found;

	FD_ZERO(&exceptions);
	FD_SET(fds[0], &exceptions);
	found = ferry_thread_call(SYS_pselect6, fds[0] + 1, 0, 0, (long)&exceptions, (long)&limit,
				  0);
	return (void *)(found ? found : ferry_poll(polled, 2, -1));
}

/* A program that wants nothing of a descriptor just now leaves it in the set without events. */
static void a_file_may_be_among_what_is_polled(void **state)
{
	int fds[2], both[2] = { memfd_create("file", MFD_CLOEXEC) };
	struct ferry_thread *thread;

	stream_pair(fds);
	both[1] = fds[0];
	thread = spawn(state, poll_a_file_too, both);
	ferry_thread_sleep(20000000); /* the wait has been checked */
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(thread), 1);
	close(both[0]);
	close_both(fds);
}

#ifdef SYS_epoll_wait
static void *wait_in_epoll(void *epoll)
{
	struct epoll_event event = { 0 };

	if (ferry_thread_call(SYS_epoll_wait, *(const int *)epoll, (long)&event, 1, 10000, 0, 0) !=
	    1)
		return NULL;
	return (void *)(long)event.data.fd;
}

static void a_programs_own_epoll_is_waited_for(void **state)
{
	int fds[2], epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = { .events = EPOLLIN };
	struct ferry_thread *thread;

	stream_pair(fds);
	event.data.fd = fds[0];
	epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
	thread = spawn(state, wait_in_epoll, &epoll);
	ferry_thread_yield();
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(thread), fds[0]);
	close(epoll);
	close_both(fds);
}
#endif

/* ---- what plain calls do, too ---- */

static void no_blocking_is_asked_for(void **state)
{
	int fds[2];
	char byte;

	stream_pair(fds);
	assert_int_equal(result_of(spawn(state, poll_in_vain, &fds[0])), 0);
	assert_int_equal(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	assert_int_equal(result_of(spawn(state, read_byte, &fds[0])), -EAGAIN);
	assert_int_equal(recv(fds[1], &byte, 1, MSG_DONTWAIT), -1);
	close_both(fds);
}

static void no_blocking_is_asked_for_later(void **state)
{
	struct ferry_thread *thread;
	int fds[2];

	stream_pair(fds);
	thread = spawn(state, read_byte, &fds[0]);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(thread), 1);
	thread = spawn(state, read_byte, &fds[0]);
	ferry_thread_yield();
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	assert_int_equal(result_of(thread), -EAGAIN);
	close_both(fds);
}

static void time_limits_hold(void **state)
{
	struct timeval limit = { 0, 30000 };
	long start_ns = now_ns();
	int fds[2];

	stream_pair(fds);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	assert_int_equal(result_of(spawn(state, read_byte, &fds[0])), -EAGAIN);
	assert_true(now_ns() - start_ns >= 30000000L);
	close_both(fds);
}

static void *read_twice(void *fd)
{
	struct timeval limit = { 0, 1000 };

	if (read_byte(fd) != (void *)1)
		return NULL;
	setsockopt(*(const int *)fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return read_byte(fd);
}

/* The library does not see a plain setsockopt(), so it learns of the limit from its check. */
static void a_time_limit_may_come_later(void **state)
{
	struct ferry_thread *reader;
	int fds[2];

	stream_pair(fds);
	reader = spawn(state, read_twice, &fds[0]);
	ferry_thread_yield(); /* the first read waits, without a limit */
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(reader), -EAGAIN);
	close_both(fds);
}

static void a_limit_of_ages_does_not_end(void **state)
{
	struct timeval ages = { .tv_sec = 10000000000L };
	struct ferry_thread *reader;
	int fds[2];

	stream_pair(fds);
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &ages, sizeof(ages));
	reader = spawn(state, read_byte, &fds[0]);
	ferry_thread_sleep(1000000);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(reader), 1);
	close_both(fds);
}

static void *poll_byte(void *fd)
{
	struct pollfd polled = { *(const int *)fd, POLLIN, 0 };

	return (void *)ferry_poll(&polled, 1, -1);
}

/* A read that waits then ends with EAGAIN; a poll() does not. */
static void poll_does_not_mind_a_change_of_flags(void **state)
{
	struct ferry_thread *reader, *poller;
	int fds[2];

	stream_pair(fds);
	reader = spawn(state, read_byte, &fds[0]);
	poller = spawn(state, poll_byte, &fds[0]);
	ferry_thread_yield();
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	assert_int_equal(result_of(reader), -EAGAIN);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(poller), 1);
	close_both(fds);
}

static void the_end_is_read(void **state)
{
	struct ferry_thread *thread;
	int fds[2];

	stream_pair(fds);
	thread = spawn(state, read_byte, &fds[0]);
	ferry_thread_yield();
	close(fds[1]);
	assert_int_equal(result_of(thread), 0);
	close(fds[0]);
}

/* The end arrives together with the bytes: a thread must not wait for an event after it. */
static void the_end_is_read_after_the_last_bytes(void **state)
{
	struct exchange exchange = { .size = 100 };
	struct ferry_thread *thread;
	char data[100];

	exchange.data = data;
	stream_pair(exchange.fds);
	thread = spawn(state, read_all, &exchange);
	ferry_thread_yield();
	assert_int_equal(write(exchange.fds[1], "0123456789", 10), 10);
	close(exchange.fds[1]);
	assert_int_equal(result_of(thread), 10);
	close(exchange.fds[0]);
}

struct ending {
	int fd;
	unsigned long turns; /* of another thread */
	bool is_over;
};

static void *count_turns(void *argument)
{
	struct ending *ending = argument;

	for (; !ending->is_over; ending->turns++)
		ferry_thread_yield();
	return NULL;
}

/* The end comes with the last bytes.  Returns how many turns others had while it was read. */
static void *read_the_end(void *argument)
{
	struct ending *ending = argument;
	unsigned long before;
	char data[100];
	long last, end;

	last = ferry_read(ending->fd, data, sizeof(data));
	before = ending->turns;
	end = ferry_read(ending->fd, data, sizeof(data));
	ending->is_over = true;
	return (void *)(last == 3 && !end ? (long)(ending->turns - before) : -1L);
}

static void read_to_the_end(void **state, const int fds[2])
{
	struct ending ending = { .fd = fds[0] };
	struct ferry_thread *reader = spawn(state, read_the_end, &ending), *other;
	long turns;

	ferry_thread_yield(); /* the reader waits */
	assert_int_equal(write(fds[1], "abc", 3), 3);
	close(fds[1]);
	other = spawn(state, count_turns, &ending);
	turns = result_of(reader);
	assert_in_range(turns, 0, most_turns(3));
	result_of(other);
	close(fds[0]);
}

static void nobody_waits_for_the_end_again(void **state)
{
	int fds[2];

	stream_pair(fds);
	read_to_the_end(state, fds);
	assert_int_equal(pipe(fds), 0);
	read_to_the_end(state, fds);
}

static void *read_what_is_closed(void *fd)
{
	errno = 0;
	return (void *)(long)(read_byte(fd) == (void *)-EBADF && !errno);
}

static void calls_on_closed_descriptors_leave_errno_alone(void **state)
{
	int fd = 1000; /* is not open */

	assert_true(result_of(spawn(state, read_what_is_closed, &fd)));
}

static void *close_fd(void *fd)
{
	return (void *)ferry_close(*(const int *)fd);
}

static void who_waits_learns_of_a_close(void **state)
{
	struct ferry_thread *reader, *other;
	int fds[2], copy;

	stream_pair(fds);
	copy = dup(fds[0]);
	reader = spawn(state, read_byte, &fds[0]);
	other = spawn(state, read_byte, &copy);
	ferry_thread_yield();
	assert_int_equal(result_of(spawn(state, close_fd, &fds[0])), 0);
	assert_int_equal(result_of(reader), -EBADF);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(other), 1);
	close(copy);
	close(fds[1]);
}

/* close() is called behind the library's back, so it learns of it from its check. */
static void a_number_may_mean_another_file(void **state)
{
	struct ferry_thread *stale, *reader;
	int old[2], new[2], number;

	stream_pair(old);
	number = old[0];
	stale = spawn(state, read_byte, &number);
	ferry_thread_sleep(30000000);
	close_both(old);
	stream_pair(new);
	assert_int_equal(new[0], number);
	reader = spawn(state, read_byte, &number);
	ferry_thread_yield();
	assert_int_equal(result_of(stale), -EBADF);
	assert_int_equal(write(new[1], "x", 1), 1);
	assert_int_equal(result_of(reader), 1);
	close_both(new);
}

static void a_number_may_mean_another_kind_of_file(void **state)
{
	struct ferry_thread *thread;
	int fds[2], file = memfd_create("file", 0), i;

	assert_int_equal(write(file, "abc", 3), 3);
	stream_pair(fds);
	for (i = 0; i < 3; i++) {
		assert_int_equal(write(fds[1], "x", 1), 1);
		assert_int_equal(result_of(spawn(state, read_byte, &fds[0])), 1);
	}
	lseek(file, 2, SEEK_SET);
	dup2(file, fds[0]);
	assert_int_equal(result_of(spawn(state, read_byte, &fds[0])), 1);
	assert_int_equal(result_of(spawn(state, read_byte, &fds[0])), 0);
	close_both(fds);
	stream_pair(fds);
	thread = spawn(state, read_byte, &fds[0]);
	ferry_thread_yield();
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(result_of(thread), 1);
	close_both(fds);
	close(file);
}

/* Calls on /dev/null are made by their kernel thread, which must not wait for a pipe. */
static void the_number_of_a_device_may_mean_a_pipe(void **state)
{
	int fds[2], number = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct ferry_thread *reader, *other;

	assert_int_equal(pipe(fds), 0);
	other = spawn(state, read_byte, &fds[0]); /* what is known of descriptors is kept for it */
	assert_int_equal(result_of(spawn(state, read_byte, &number)), 0);
	dup2(fds[0], number);
	reader = spawn(state, read_byte, &number);
	ferry_thread_yield();
	assert_int_equal(write(fds[1], "xy", 2), 2);
	assert_int_equal(result_of(reader), 1);
	assert_int_equal(result_of(other), 1);
	close(number);
	close_both(fds);
}

static void *accept_plainly(void *listener)
{
	return (void *)(long)accept(*(const int *)listener, NULL, NULL);
}

static void *accept_one(void *listener)
{
	long fd = ferry_accept4(*(const int *)listener, NULL, NULL, 0);

	return (void *)(fd < 0 ? fd : ferry_close((int)fd));
}

/* Another kernel thread may take the connection first; then the user-level thread waits on. */
static void a_lost_race_hangs_nobody(void **state)
{
	struct sockaddr_in address;
	int listener = listen_on(&address), i;
	struct ferry_thread *thread = spawn(state, accept_one, &listener);
	pthread_t rival;
	void *fd;

	pthread_create(&rival, NULL, accept_plainly, &listener);
	for (i = 0; i < 2; i++)
		assert_int_equal(result_of(spawn(state, connect_and_write, &address)), 0);
	assert_int_equal(result_of(thread), 0);
	pthread_join(rival, &fd);
	close((int)(long)fd);
	close(listener);
}

/* An abstract address of this process. */
static socklen_t own_address(struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
					    "ferry-%d", getpid()));
}

/* An address that is given makes a full receiver invisible to poll(). */
static void *send_datagrams(void *fd)
{
	struct sockaddr_un address;
	socklen_t size = own_address(&address);
	long i, sent = 0;

	for (i = 0; i < 100; i++)
		sent += ferry_thread_call(SYS_sendto, *(const int *)fd, (long)"x", 1, 0,
					  (long)&address, (long)size);
	return (void *)sent;
}

static void *receive_datagrams(void *fd)
{
	long i, received = 0;
	char byte;

	ferry_thread_sleep(20000000);
	for (i = 0; i < 100; i++)
		received += ferry_recv(*(const int *)fd, &byte, 1, 0);
	return (void *)received;
}

static void a_full_receiver_of_datagrams_is_waited_for(void **state)
{
	struct sockaddr_un address;
	socklen_t size = own_address(&address);
	int receiver = socket(AF_UNIX, SOCK_DGRAM, 0), sender = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct ferry_thread *sending, *receiving;

	assert_int_equal(bind(receiver, (struct sockaddr *)&address, size), 0);
	sending = spawn(state, send_datagrams, &sender);
	receiving = spawn(state, receive_datagrams, &receiver);
	assert_int_equal(result_of(sending), 100);
	assert_int_equal(result_of(receiving), 100);
	close(receiver);
	close(sender);
}

/* ---- together with posted calls ---- */

static void *call_until(void *argument)
{
	const bool *over = argument;
	long calls = 0;

	while (!__atomic_load_n(over, __ATOMIC_RELAXED)) {
		ferry_fdatasync(-1);
		calls++;
	}
	return (void *)calls;
}

static void *echo(void *argument)
{
	int fd = *(const int *)argument, i;
	char byte;

	for (i = 0; i < 1000; i++)
		if (ferry_read(fd, &byte, 1) != 1 || ferry_write(fd, &byte, 1) != 1)
			return "no echo";
	return NULL;
}

static void *play(void *argument)
{
	int fd = *(const int *)argument, i;
	char byte;

	for (i = 0; i < 1000; i++)
		if (write(fd, "x", 1) != 1 || read(fd, &byte, 1) != 1)
			return "no answer";
	return NULL;
}

static void descriptors_are_polled_while_others_call(void **state)
{
	struct ferry_thread *thread, *caller;
	bool over = false;
	pthread_t player;
	void *complaint;
	int fds[2];

	stream_pair(fds);
	thread = spawn(state, echo, &fds[0]);
	caller = spawn(state, call_until, &over);
	pthread_create(&player, NULL, play, &fds[1]);
	assert_null(result_of(thread));
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	assert_true(result_of(caller) > 0);
	pthread_join(player, &complaint);
	assert_null(complaint);
	close_both(fds);
}

static void *write_after_lock(void *argument)
{
	struct exchange *exchange = argument;
	int file = (int)exchange->size;

	if (ferry_thread_call3(SYS_flock, file, 2 /* LOCK_EX */, 0))
		return "no lock";
	return ferry_write(exchange->fds[1], "x", 1) == 1 ? NULL : "no write";
}

static void *unlock_later(void *file)
{
	struct timespec a_while = { 0, 20000000 };

	nanosleep(&a_while, NULL);
	close(*(const int *)file);
	return NULL;
}

/* The scheduler sleeps for descriptors and for a call that blocks its runner, at the same time. */
static void a_sleep_ends_with_either(void **state)
{
	char path[] = "/tmp/ferry-lock-XXXXXX";
	int locked = mkstemp(path), again = open(path, O_RDWR | O_CLOEXEC), round;
	struct exchange exchange = { .size = (size_t)again };
	struct ferry_thread *reader, *writer;
	pthread_t unlocker;

	unlink(path);
	stream_pair(exchange.fds);
	for (round = 0; round < 2; round++) {
		assert_int_equal(ferry_thread_call3(SYS_flock, locked, 2, 0), 0);
		reader = spawn(state, read_byte, &exchange.fds[0]);
		writer = spawn(state, write_after_lock, &exchange);
		if (!round) {
			ferry_thread_sleep(5000000);
			ferry_thread_call3(SYS_flock, locked, 8 /* LOCK_UN */, 0);
		} else {
			pthread_create(&unlocker, NULL, unlock_later, &locked);
		}
		assert_int_equal(result_of(reader), 1);
		assert_null(result_of(writer));
		ferry_thread_call3(SYS_flock, again, 8, 0);
	}
	pthread_join(unlocker, NULL);
	close(again);
	close_both(exchange.fds);
}

/* ---- forks ---- */

static void *fork_and_wait(void *argument)
{
	int status = -1;
	pid_t child;

	(void)argument;
	ferry_thread_sleep(1000000);
	child = fork();
	if (!child)
		return NULL;
	waitpid(child, &status, 0);
	return (void *)(long)(status + 1);
}

/* The child has an epoll of its own: what it does there does not reach the parent's. */
static void a_child_leaves_the_parents_waits_alone(void **state)
{
	struct ferry_thread *reader, *forker;
	long forked, got;
	int fds[2], own[2];

	SKIP_IF_FORKS_CONFUSE;
	stream_pair(fds);
	reader = spawn(state, read_byte, &fds[0]);
	forker = spawn(state, fork_and_wait, NULL);
	forked = result_of(forker);
	if (!forked) {
		got = result_of(reader);
		stream_pair(own);
		reader = spawn(state, read_byte, &own[0]);
		ferry_thread_yield();
		_exit(got == -ECANCELED && write(own[1], "x", 1) == 1 && result_of(reader) == 1 ?
			      0 :
			      1);
	}
	assert_int_equal(forked, 1);
	assert_int_equal(write(fds[1], "y", 1), 1);
	assert_int_equal(result_of(reader), 1);
	close_both(fds);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_defaults, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_runner_waits_for_pipes),
		TEST(no_runner_waits_for_streams),
		TEST(no_runner_waits_for_datagrams),
		TEST(a_call_writes_all_its_bytes),
		TEST(connections_are_accepted),
		TEST(others_run_while_a_thread_connects),
		TEST(a_refused_connection_is_reported),
		TEST(connecting_ends_with_its_time_limit),
		TEST(a_socket_that_connects_keeps_its_flags),
		cmocka_unit_test(a_filter_may_forbid_epoll_pwait2),
		TEST(several_messages_are_waited_for),
		TEST(others_run_during_ppoll),
		TEST(others_run_during_the_longest_wait),
		cmocka_unit_test(the_longest_sleep_does_not_end),
		TEST(others_run_during_select),
		TEST(many_messages_are_sent),
		TEST(no_runner_waits_to_splice),
		TEST(an_eventfd_is_waited_for),
		TEST(poll_waits_for_several),
		TEST(a_file_may_be_among_what_is_polled),
#ifdef SYS_epoll_wait
		TEST(a_programs_own_epoll_is_waited_for),
#endif
		TEST(no_blocking_is_asked_for),
		TEST(no_blocking_is_asked_for_later),
		TEST(time_limits_hold),
		TEST(a_time_limit_may_come_later),
		TEST(a_limit_of_ages_does_not_end),
		TEST(poll_does_not_mind_a_change_of_flags),
		TEST(the_end_is_read),
		TEST(the_end_is_read_after_the_last_bytes),
		TEST(nobody_waits_for_the_end_again),
		TEST(calls_on_closed_descriptors_leave_errno_alone),
		TEST(who_waits_learns_of_a_close),
		TEST(a_number_may_mean_another_file),
		TEST(a_number_may_mean_another_kind_of_file),
		TEST(the_number_of_a_device_may_mean_a_pipe),
		TEST(a_lost_race_hangs_nobody),
		TEST(a_full_receiver_of_datagrams_is_waited_for),
		TEST(descriptors_are_polled_while_others_call),
		TEST(a_sleep_ends_with_either),
		TEST(a_child_leaves_the_parents_waits_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

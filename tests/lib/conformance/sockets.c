// SPDX-License-Identifier: MIT
/* Sockets: send and receive with their flags, closed peers, SIGPIPE. */
#include <sys/socket.h>

#include "contract/suite.h"

static void pair_of(int type, int fds[2])
{
	expect(!socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds));
}

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

TEST(bytes_flow_through_stream_sockets)
{
	unsigned char got[200] = { 0 };
	struct batch_slot calls[100];
	long results[100];
	int fds[2];
	int i;

	pair_of(SOCK_STREAM, fds);
	for (i = 0; i < 50; i++) {
		calls[i] = i % 2 ? SLOT(SYS_write, fds[0], pattern(200) + 4 * i, 4) :
				   SLOT(SYS_sendto, fds[0], pattern(200) + 4 * i, 4, 0, 0, 0);
		calls[50 + i] = i % 2 ? SLOT(SYS_read, fds[1], got + 4 * i, 4) :
					SLOT(SYS_recvfrom, fds[1], got + 4 * i, 4, 0, 0, 0);
		results[i] = 4;
		results[50 + i] = 4;
	}
	expect_run(calls, 100, results);
	expect_bytes(got, pattern(200), 200);
	close_pair(fds);
}

TEST(datagrams_keep_their_bounds)
{
	unsigned char got[3][10] = { 0 };
	struct batch_slot calls[7];
	int fds[2];

	pair_of(SOCK_DGRAM, fds);
	calls[0] = SLOT(SYS_sendto, fds[0], "one", 3, 0, 0, 0);
	calls[1] = SLOT(SYS_write, fds[0], "three", 5);
	calls[2] = SLOT(SYS_sendto, fds[0], "", 0, 0, 0, 0);
	calls[3] = SLOT(SYS_recvfrom, fds[1], got[0], 10, 0, 0, 0);
	calls[4] = SLOT(SYS_recvfrom, fds[1], got[1], 2, MSG_TRUNC, 0, 0);
	calls[5] = SLOT(SYS_read, fds[1], got[2], 10);
	calls[6] = SLOT(SYS_recvfrom, fds[1], got[2], 10, MSG_DONTWAIT, 0, 0);
	expect_batch(calls, 6, 3, 5, 0, 3, 5, 0, -EAGAIN);
	expect_bytes(got, "one\0\0\0\0\0\0\0th\0", 13);
	close_pair(fds);
}

TEST(recvfrom_obeys_its_flags)
{
	unsigned char got[4][8] = { 0 };
	struct batch_slot calls[20];
	long results[20];
	int fds[2];
	int i;

	pair_of(SOCK_STREAM, fds);
	expect_equal(write(fds[0], "abcdef", 6), 6);
	for (i = 0; i < 16; i++) {
		calls[i] = SLOT(SYS_recvfrom, fds[1], got[0], 4, MSG_PEEK, 0, 0);
		results[i] = 4;
	}
	calls[16] = SLOT(SYS_recvfrom, fds[1], got[1], 3, MSG_WAITALL, 0, 0);
	results[16] = 3;
	calls[17] = SLOT(SYS_recvfrom, fds[1], got[2], 8, MSG_DONTWAIT, 0, 0);
	results[17] = 3;
	calls[18] = SLOT(SYS_recvfrom, fds[1], got[3], 8, MSG_DONTWAIT, 0, 0);
	results[18] = -EAGAIN;
	calls[19] = SLOT(SYS_recvfrom, fds[1], got[3], 8, MSG_OOB, 0, 0);
	results[19] = ferry_rawcall(SYS_recvfrom, fds[1], (long)got[3], 8, MSG_OOB, 0, 0);
	expect_run(calls, 20, results);
	expect_bytes(got[0], "abcd", 4);
	expect_bytes(got[1], "abc", 3);
	expect_bytes(got[2], "def", 3);
	close_pair(fds);
}

TEST(sends_and_receives_fail_as_they_do_alone)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct batch_slot calls[20];
	long results[20];
	char byte = 0;
	int fds[2];
	int i;

	pair_of(SOCK_STREAM, fds);
	for (i = 0; i < 20; i += 5) {
		calls[i] = SLOT(SYS_sendto, null, &byte, 1, 0, 0, 0);
		results[i] = -ENOTSOCK;
		calls[i + 1] = SLOT(SYS_recvfrom, -1, &byte, 1, 0, 0, 0);
		results[i + 1] = -EBADF;
		calls[i + 2] = SLOT(SYS_pread64, fds[0], &byte, 1, 0);
		results[i + 2] = -ESPIPE;
		calls[i + 3] = SLOT(SYS_sendto, fds[0], NULL, 1, 0, 0, 0);
		results[i + 3] = -EFAULT;
		calls[i + 4] = SLOT(SYS_sendto, fds[0], &byte, 1, 0, 8, 1000);
		results[i + 4] = ferry_rawcall(SYS_sendto, fds[0], (long)&byte, 1, 0, 8, 1000);
		expect(results[i + 4] < 0);
	}
	expect_run(calls, 20, results);
	close_pair(fds);
	close(null);
}

TEST(a_full_nonblocking_socket_gives_eagain)
{
	static unsigned char block[4096];
	struct batch_slot calls[300];
	long results[300];
	long rets[300];
	int fds[2];
	int twin[2];
	int i;

	expect(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
	expect(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, twin));
	for (i = 0; i < 300; i++) {
		calls[i] = SLOT(SYS_write, fds[0], block, sizeof(block));
		results[i] = ferry_rawcall(SYS_write, twin[0], (long)block, sizeof(block), 0, 0, 0);
	}
	expect_equal(results[299], -EAGAIN);
	expect_equal(run_batch(rets, calls, 300), 299);
	expect_bytes(rets, results, sizeof(rets));
	close_pair(fds);
	close_pair(twin);
}

/* ---- SIGPIPE: once for each write, and before the next slot ---- */

static int seen;

static void count_signal(int sig)
{
	(void)sig;
	seen++;
}

static int broken_pipe(void)
{
	int ends[2];

	expect(!pipe2(ends, O_CLOEXEC));
	close(ends[0]);
	return ends[1];
}

static int broken_socket(void)
{
	int fds[2];

	pair_of(SOCK_STREAM, fds);
	close(fds[0]);
	return fds[1];
}

static void write_to_broken(void *arg)
{
	struct sigaction action = { .sa_handler = count_signal };
	int fd = *(int *)arg;
	struct batch_slot calls[64];
	long results[64];
	int i;

	sigaction(SIGPIPE, &action, NULL);
	for (i = 0; i < 64; i++) {
		calls[i] = SLOT(SYS_write, fd, "x", 1);
		results[i] = -EPIPE;
	}
	expect_run(calls, 64, results);
	expect_equal(seen, 64);
}

/* Good and broken writes alternate; the good ones record how many signals came before. */
static void write_in_turns(void *arg)
{
	struct sigaction action = { .sa_handler = count_signal };
	int fd = *(int *)arg;
	int file = memory_file();
	struct batch_slot calls[64];
	long results[64];
	int counts[32];
	int i;

	sigaction(SIGPIPE, &action, NULL);
	for (i = 0; i < 32; i++) {
		calls[2 * i] = SLOT(SYS_write, fd, "x", 1);
		calls[2 * i + 1] = SLOT(SYS_write, file, &seen, sizeof(seen));
		results[2 * i] = -EPIPE;
		results[2 * i + 1] = sizeof(seen);
	}
	expect_run(calls, 64, results);
	expect_equal(pread(file, counts, sizeof(counts), 0), sizeof(counts));
	for (i = 0; i < 32; i++)
		expect_equal(counts[i], i + 1);
}

static void write_once(void *arg)
{
	int fd = *(int *)arg;
	struct batch_slot calls[40];
	long rets[40];
	int i;

	for (i = 0; i < 40; i++)
		calls[i] = SLOT(SYS_write, fd, "x", 1);
	run_batch(rets, calls, 40);
}

static void send_without_signal(void *arg)
{
	int fd = *(int *)arg;
	struct batch_slot calls[40];
	long results[40];
	int i;

	for (i = 0; i < 40; i++) {
		calls[i] = SLOT(SYS_sendto, fd, "x", 1, MSG_NOSIGNAL, 0, 0);
		results[i] = -EPIPE;
	}
	expect_run(calls, 40, results);
}

TEST(every_write_to_a_broken_pipe_signals)
{
	int pipe = broken_pipe();
	int socket = broken_socket();

	expect_child(write_to_broken, &pipe);
	expect_child(write_to_broken, &socket);
	close(pipe);
	close(socket);
}

TEST(sigpipe_comes_before_the_next_slot)
{
	int pipe = broken_pipe();
	int socket = broken_socket();

	expect_child(write_in_turns, &pipe);
	expect_child(write_in_turns, &socket);
	close(pipe);
	close(socket);
}

TEST(sigpipe_kills_by_default)
{
	int pipe = broken_pipe();
	int socket = broken_socket();

	expect_killed(write_once, &pipe, SIGPIPE);
	expect_killed(write_once, &socket, SIGPIPE);
	close(pipe);
	close(socket);
}

TEST(msg_nosignal_means_no_signal)
{
	int socket = broken_socket();

	expect_child(send_without_signal, &socket);
	close(socket);
}

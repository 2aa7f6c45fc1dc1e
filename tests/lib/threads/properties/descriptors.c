// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "helpers.h"
#include "properties.h"

/* ---- descriptors ---- */

static void *drain(void *argument)
{
	const int fd = *(int *)argument;
	char data[4096];
	long total = 0;
	ssize_t count;

	while ((count = read(fd, data, sizeof(data))) > 0) {
		total += count;
		if (total % 64 == 0)
			sched_yield();
	}
	return (void *)total;
}

#define MUCH (1 << 20)

static void *write_much(void *argument)
{
	const int fd = *(int *)argument;
	char *data = calloc(1, MUCH);
	struct iovec parts[2] = { { data, MUCH / 2 }, { data + MUCH / 2, MUCH / 2 } };
	const long written = write(fd, data, MUCH) + writev(fd, parts, 2);

	free(data);
	close(fd);
	return (void *)written;
}

static void transfer(int in, int out)
{
	pthread_t reader = start(drain, &in), writer = start(write_much, &out);
	const long written = join(writer);

	printf("%ld %ld\n", written, join(reader));
}

void blocking_writes_are_whole(void)
{
	int pipes[2];

	if (pipe(pipes))
		exit(2);
	transfer(pipes[0], pipes[1]);
	transfer(pair[0], pair[1]);
}

static void *take_all(void *argument)
{
	char data[100];

	(void)argument;
	return (void *)recv(pair[0], data, sizeof(data), MSG_WAITALL);
}

void recv_waits_for_all(void)
{
	pthread_t thread = start(take_all, NULL);
	int i;

	for (i = 0; i < 10; i++) {
		send(pair[1], "0123456789", 10, 0);
		nap();
	}
	printf("%ld\n", join(thread));
}

/* A handler ends it once a part has come, and so does the end of the stream. */
void recv_of_all_returns_a_part(void)
{
	pthread_t thread = start(take_all, NULL);
	void *received;

	handle(SIGUSR1, SA_RESTART);
	nap();
	pthread_kill(thread, SIGUSR1);
	nap();
	send(pair[1], "0123456789", 10, 0);
	while (pthread_tryjoin_np(thread, &received)) {
		pthread_kill(thread, SIGUSR1);
		nap();
	}
	printf("%ld\n", (long)received);
	thread = start(take_all, NULL);
	send(pair[1], "01234", 5, 0);
	nap();
	shutdown(pair[1], SHUT_WR);
	printf("%ld\n", join(thread));
}

static void *send_much(void *argument)
{
	static char data[2][1 << 20];
	struct iovec buffers[] = { { data[0], sizeof(data[0]) }, { data[1], sizeof(data[1]) } };
	struct msghdr message = { .msg_iov = buffers, .msg_iovlen = 2 };

	(void)argument;
	return (void *)sendmsg(pair[1], &message, 0);
}

/* More than the socket takes: a handler ends what follows the first part. */
void sendmsg_returns_a_part(void)
{
	pthread_t thread = start(send_much, NULL);
	void *sent;

	handle(SIGUSR1, SA_RESTART);
	while (pthread_tryjoin_np(thread, &sent)) {
		nap();
		pthread_kill(thread, SIGUSR1);
	}
	printf("%d\n", (long)sent > 0 && (long)sent < 2 << 20);
}

void recv_of_all_takes_one_datagram(void)
{
	pthread_t thread;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		exit(2);
	thread = start(take_all, NULL);
	nap();
	send(pair[1], "0123456789", 10, 0);
	send(pair[1], "0123456789", 10, 0);
	printf("%ld\n", join(thread));
}

static void *do_not_wait(void *argument)
{
	char byte;

	(void)argument;
	nap();
	printf("%zd %s ", recv(pair[0], &byte, 1, MSG_DONTWAIT), strerror(errno));
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	printf("%zd %s ", recv(pair[0], &byte, 1, 0), strerror(errno));
	printf("%zd %s\n", read(pair[0], &byte, 1), strerror(errno));
	return NULL;
}

void nonblocking_calls_do_not_wait(void)
{
	in_thread(do_not_wait, NULL);
}

/* Sends FD over PAIR[1]. */
static void send_descriptor(int fd)
{
	char byte = 'd', control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec buffer = { &byte, 1 };
	struct msghdr message = { .msg_iov = &buffer,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	sendmsg(pair[1], &message, 0);
}

static int receive_descriptor(bool many)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec buffer = { &byte, 1 };
	struct mmsghdr message = { { .msg_iov = &buffer,
				     .msg_iovlen = 1,
				     .msg_control = control,
				     .msg_controllen = sizeof(control) },
				   0 };
	int fd = -1;

	if (many)
		recvmmsg(pair[0], &message, 1, 0, NULL);
	else
		(void)!recvmsg(pair[0], &message.msg_hdr, 0);
	if (CMSG_FIRSTHDR(&message.msg_hdr))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message.msg_hdr)), sizeof(fd));
	return fd;
}

static void *write_byte(void *argument)
{
	usleep(20000);
	return (void *)write((int)(long)argument, "x", 1);
}

/* A number is closed unseen, after a wait for it, and received again with another file. */
static void *receive_known_number(void *argument)
{
	int pipes[2], sockets[2], fd;
	pthread_t writer;
	char byte = 0;

	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return NULL;
	writer = start(write_byte, (void *)(long)pipes[1]);
	printf("%zd ", read(pipes[0], &byte, 1));
	join(writer);
	inline_call(SYS_close, pipes[0], 0, 0);
	send_descriptor(sockets[0]);
	fd = receive_descriptor(argument);
	writer = start(write_byte, (void *)(long)sockets[1]);
	printf("%d %zd ", fd == pipes[0], read(fd, &byte, 1));
	join(writer);
	printf("%zd\n", recv(fd, &byte, 1, MSG_DONTWAIT));
	return NULL;
}

void received_numbers_are_new(void)
{
	in_thread(receive_known_number, NULL);
	in_thread(receive_known_number, "");
}

static int listener;

static void *accept_some(void *argument)
{
	long count = 0;
	char byte;

	(void)argument;
	for (;;) {
		const int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			return (void *)count;
		byte = 'n';
		if (recv(fd, &byte, 1, 0) != 1)
			exit(2);
		if (byte == 'n')
			count++;
		send(fd, "!", 1, 0);
		close(fd);
		if (byte == 'q')
			return (void *)count;
	}
}

static void ask_server(const struct sockaddr_un *address, char what)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;

	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		exit(2);
	send(fd, &what, 1, 0);
	if (recv(fd, &byte, 1, 0) != 1)
		exit(2);
	close(fd);
}

void accept_by_many(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pthread_t threads[8];
	long total = 0;
	int i;

	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "ferry-%d", getpid());
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 128))
		exit(2);
	for (i = 0; i < 8; i++)
		threads[i] = start(accept_some, NULL);
	for (i = 0; i < 200; i++)
		ask_server(&address, 'n');
	for (i = 0; i < 8; i++)
		ask_server(&address, 'q');
	for (i = 0; i < 8; i++)
		total += join(threads[i]);
	printf("%ld\n", total);
}

static void *echo_once(void *argument)
{
	const int fd = (int)(long)argument;
	char byte;

	if (recv(fd, &byte, 1, 0) == 1)
		send(fd, &byte, 1, 0);
	close(fd);
	return NULL;
}

void numbers_are_used_again(void)
{
	int i, fds[2], answers = 0;
	pthread_t thread;
	char byte;

	for (i = 0; i < 300; i++) {
		socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
		thread = start(echo_once, (void *)(long)fds[0]);
		if (i % 3)
			sched_yield();
		send(fds[1], "x", 1, 0);
		answers += recv(fds[1], &byte, 1, 0) == 1;
		if (i % 2) {
			FILE *stream = fdopen(fds[1], "r");

			fclose(stream);
		} else {
			close(fds[1]);
		}
		join(thread);
	}
	printf("%d\n", answers);
}

/* ---- a program that closes or replaces all descriptors by their numbers ---- */

static void *close_and_replace_all(void *argument)
{
	int pipes[2], fd;
	char byte;

	nap();
	printf("%ld\n", syscall(SYS_close_range, 3, ~0U, 0));
	if (pipe(pipes))
		return NULL;
#ifdef SYS_dup2
	printf("%ld\n", syscall(SYS_dup2, pipes[0], 21));
#else
	printf("%ld\n", syscall(SYS_dup3, pipes[0], 21, 0));
#endif
	printf("%zd\n", write(pipes[1], "x", 1));
	printf("%zd\n", read(21, &byte, 1));
	nap();
	for (fd = 3; fd < 1100; fd++)
		syscall(SYS_dup3, 1, fd, 0);
	nap();
	return argument;
}

void descriptors_by_syscall(void)
{
	in_thread(close_and_replace_all, NULL);
	in_thread(close_and_replace_all, NULL);
}

/* ---- two threads wait for a new socket for the first time, one to read and one to write ---- */

static int both[2];

static void *read_one(void *argument)
{
	char byte;

	(void)argument;
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	return (void *)recv(both[0], &byte, 1, 0);
}

static void *write_all(void *argument)
{
	static char bytes[1 << 20];

	(void)argument;
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		;
	return (void *)send(both[0], bytes, sizeof(bytes), 0);
}

void both_directions_at_once(void)
{
	static char bytes[1 << 20];
	pthread_t reader, writer;
	long sum = 0;
	int i;

	for (i = 0; i < 500; i++) {
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, both), "socketpair");
		flag = 0;
		reader = start(read_one, NULL);
		writer = start(write_all, NULL);
		usleep(300);
		__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
		usleep(200);
		send(both[1], "x", 1, 0);
		sum += recv(both[1], bytes, sizeof(bytes), MSG_WAITALL);
		sum += join(reader) + join(writer);
		close(both[0]);
		close(both[1]);
	}
	printf("%ld\n", sum);
}

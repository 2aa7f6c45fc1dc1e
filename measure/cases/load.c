// SPDX-License-Identifier: MIT
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "measure/harness/clock.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/random.h"

#define PATIENCE 20   /* s */
#define QUIET 200     /* ms: an answer of unknown length is over */
#define LONGEST 16384 /* bytes of an answer */

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

int load_free_port(void)
{
	struct sockaddr_in address = loopback(0);
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) ||
	    getsockname(fd, (struct sockaddr *)&address, &length))
		error = -errno;
	if (fd >= 0)
		close(fd);
	return error ? error : ntohs(address.sin_port);
}

/* ---- connections ---- */

static int open_one(int port)
{
	const struct timeval patience = { .tv_sec = PATIENCE };
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, error;

	if (fd < 0)
		return -errno;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

static int send_all(int fd, struct bytes bytes)
{
	return send(fd, bytes.data, bytes.size, MSG_NOSIGNAL) == (ssize_t)bytes.size ? 0 : -EPIPE;
}

/* One that is not too long for a socket's buffer.  MSG_WAITALL ends with the time limit, too. */
static int receive(int fd, char *data, size_t size)
{
	const ssize_t length = recv(fd, data, size, MSG_WAITALL);

	if (length == (ssize_t)size)
		return 0;
	return length < 0 && errno == EAGAIN ? -ETIMEDOUT : -EPIPE;
}

/* A packet of MariaDB's: three bytes of length, a number, and the rest. */
static int receive_packet(int fd)
{
	unsigned char head[4];
	char data[LONGEST];
	const int error = receive(fd, (char *)head, sizeof(head));
	const size_t size = head[0] | head[1] << 8U | (size_t)head[2] << 16U;

	if (error)
		return error;
	return size > sizeof(data) ? -EPROTO : receive(fd, data, size);
}

static int greet(int fd, const struct talk *talk)
{
	int error;

	if (!talk->greets)
		return 0;
	error = receive_packet(fd);
	if (!error)
		error = send_all(fd, talk->hello);
	return error ? error : receive_packet(fd);
}

/* Makes a first request, to learn the length of the answers. */
static int learn(struct load *load)
{
	struct pollfd poll_fd = { .fd = load->fds[0], .events = POLLIN };
	char data[LONGEST];
	int error = send_all(load->fds[0], load->talk->request), wait = PATIENCE * 1000;
	ssize_t length;

	for (load->answer = 0; !error && poll(&poll_fd, 1, wait) > 0; wait = QUIET) {
		length = recv(load->fds[0], data, sizeof(data), 0);
		if (length <= 0)
			return -EPIPE;
		load->answer += (size_t)length;
	}
	if (!error && !load->answer)
		error = -ETIMEDOUT;
	return !error && load->answer > LONGEST ? -EPROTO : error;
}

static int open_all(struct load *load, int port, size_t count)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd, error;

	while (load->count < count) {
		fd = open_one(port);
		if (fd < 0)
			return fd;
		event.data.u32 = (uint32_t)load->count;
		load->fds[load->count++] = fd;
		error = greet(fd, load->talk);
		if (error)
			return error;
		epoll_ctl(load->epoll, EPOLL_CTL_ADD, fd, &event);
	}
	return learn(load);
}

int load_open(struct load *load, int port)
{
	const size_t count = load->count;
	int error;

	load->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (load->epoll < 0)
		return -errno;
	load->count = 0;
	error = open_all(load, port, count);
	if (!error)
		return 0;
	load_close(load);
	load->count = count;
	return error;
}

void load_close(struct load *load)
{
	size_t i;

	for (i = 0; i < load->count; i++)
		close(load->fds[i]);
	close(load->epoll);
}

/* ---- requests ---- */

/* The connections without a request, and when the others' began. */
struct state {
	size_t idle[LOAD_MOST], count;
	double since[LOAD_MOST];
	struct random random;
};

static int ask(struct load *load, struct state *state)
{
	size_t place = random_below(&state->random, state->count), one = state->idle[place];

	state->idle[place] = state->idle[--state->count];
	state->since[one] = now_ns();
	return send_all(load->fds[one], load->talk->request);
}

static int hear(struct load *load, struct state *state, size_t one, double *took)
{
	char data[LONGEST];
	const int error = receive(load->fds[one], data, load->answer);

	state->idle[state->count++] = one;
	if (took)
		*took = now_ns() - state->since[one];
	return error;
}

int load_run(struct load *load, long requests)
{
	struct state state = { .random = { 1 } };
	struct epoll_event events[LOAD_MOST];
	long sent = 0, heard = 0;
	int got, error = 0, i;

	for (; state.count < load->count; state.count++)
		state.idle[state.count] = state.count;
	for (; sent < requests && sent < (long)load->active && !error; sent++)
		error = ask(load, &state);
	while (heard < sent && !error && !interrupted()) {
		got = epoll_wait(load->epoll, events, LOAD_MOST, PATIENCE * 1000);
		if (!got)
			return -ETIMEDOUT;
		for (i = 0; i < got && !error; i++, heard++) {
			error = hear(load, &state, events[i].data.u32,
				     load->took ? &load->took[heard] : NULL);
			if (error || sent == requests)
				continue;
			error = ask(load, &state);
			sent++;
		}
	}
	return error;
}

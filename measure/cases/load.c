// SPDX-License-Identifier: MIT
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "measure/harness/interrupt.h"
#include "measure/harness/random.h"

#define REQUEST 32  /* bytes, and of the answer */
#define PATIENCE 20 /* s */

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

int load_open(struct load *load, int port)
{
	size_t count = load->count;

	load->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (load->epoll < 0)
		return -errno;
	for (load->count = 0; load->count < count; load->count++) {
		struct epoll_event event = { .events = EPOLLIN };
		int fd = open_one(port);

		if (fd < 0) {
			load_close(load);
			load->count = count;
			return fd;
		}
		event.data.u32 = (uint32_t)load->count;
		load->fds[load->count] = fd;
		epoll_ctl(load->epoll, EPOLL_CTL_ADD, fd, &event);
	}
	return 0;
}

void load_close(struct load *load)
{
	size_t i;

	for (i = 0; i < load->count; i++)
		close(load->fds[i]);
	close(load->epoll);
}

/* ---- requests ---- */

/* The connections without a request. */
struct idle {
	size_t of[LOAD_MOST], count;
	struct random random;
};

static int ask(struct load *load, struct idle *idle)
{
	static const char data[REQUEST];
	size_t place = random_below(&idle->random, idle->count), one = idle->of[place];

	idle->of[place] = idle->of[--idle->count];
	return send(load->fds[one], data, REQUEST, MSG_NOSIGNAL) == REQUEST ? 0 : -EPIPE;
}

static int hear(struct load *load, struct idle *idle, size_t one)
{
	char data[REQUEST];
	ssize_t length = recv(load->fds[one], data, REQUEST, MSG_WAITALL);

	idle->of[idle->count++] = one;
	if (length == REQUEST)
		return 0;
	return length < 0 && errno == EAGAIN ? -ETIMEDOUT : -EPIPE;
}

int load_run(struct load *load, long requests)
{
	struct idle idle = { .random = { 1 } };
	struct epoll_event events[LOAD_MOST];
	long sent = 0, heard = 0;
	int got, error = 0, i;

	for (; idle.count < load->count; idle.count++)
		idle.of[idle.count] = idle.count;
	for (; sent < requests && sent < (long)load->active && !error; sent++)
		error = ask(load, &idle);
	while (heard < sent && !error && !interrupted()) {
		got = epoll_wait(load->epoll, events, LOAD_MOST, PATIENCE * 1000);
		if (!got)
			return -ETIMEDOUT;
		for (i = 0; i < got && !error; i++, heard++) {
			error = hear(load, &idle, events[i].data.u32);
			if (error || sent == requests)
				continue;
			error = ask(load, &idle);
			sent++;
		}
	}
	return error;
}

// SPDX-License-Identifier: MIT
#include "events.h"

#include <err.h>
#include <stdlib.h>
#include <sys/epoll.h>

#define AT_ONCE 64   /* events */
#define PAUSE_MS 100 /* without accepting, when resources are short */

/* The listener's events have no connection. */
struct loop {
	const struct server *server;
	const struct protocol *protocol;
	int epoll;
	bool accepting;
};

/* ---- input and output ---- */

long receive_now(struct connection *connection, void *data, size_t size)
{
	long length;

	do
		length = call_receive(connection->fd, data, size);
	while (length == -EINTR);
	return length;
}

long send_now(struct connection *connection, const void *data, size_t size)
{
	long length;

	do
		length = call_send(connection->fd, data, size);
	while (length == -EINTR);
	if (length > 0)
		connection_hurry(connection);
	return length;
}

/* ---- connections ---- */

static bool watch(const struct loop *loop, int operation, int fd, uint32_t events, void *data)
{
	struct epoll_event event = { .events = events, .data.ptr = data };

	return !epoll_ctl(loop->epoll, operation, fd, &event);
}

static void finish(const struct loop *loop, struct connection *connection)
{
	if (loop->protocol->end)
		loop->protocol->end(connection);
	free(connection->state);
	connection_close(connection);
}

static void go_on(const struct loop *loop, struct connection *connection)
{
	enum wait wait = loop->protocol->go_on(connection);
	bool room = wait == WAIT_ROOM;

	if (wait == WAIT_NOTHING) {
		finish(loop, connection);
	} else if (room != connection->waits_for_room) {
		connection->waits_for_room = room;
		watch(loop, EPOLL_CTL_MOD, connection->fd, room ? EPOLLOUT : EPOLLIN, connection);
	}
}

static void start(const struct loop *loop, int fd)
{
	struct connection *connection = connection_open(fd);

	connection->state = calloc(1, loop->protocol->state_size);
	connection->waits_for_room = false;
	if (!connection->state || !watch(loop, EPOLL_CTL_ADD, fd, EPOLLIN, connection)) {
		free(connection->state);
		connection_close(connection);
		return;
	}
	go_on(loop, connection); /* its first request may be there */
}

/* Stops when there are too many connections, or too few resources. */
static void accept_some(struct loop *loop)
{
	long fd;

	while (connection_available()) {
		fd = call_accept(loop->server->listener, SOCK_NONBLOCK);
		if (fd == -EAGAIN || fd == -EINTR || fd == -ECONNABORTED)
			return;
		if (fd < 0)
			break;
		start(loop, (int)fd);
	}
	loop->accepting = false;
	watch(loop, EPOLL_CTL_MOD, loop->server->listener, 0, NULL);
}

static void accept_again(struct loop *loop)
{
	loop->accepting = true;
	watch(loop, EPOLL_CTL_MOD, loop->server->listener, EPOLLIN, NULL);
}

_Noreturn void serve_with_events(const struct server *server, const struct protocol *protocol)
{
	struct loop loop = { server, protocol, epoll_create1(EPOLL_CLOEXEC), true };
	struct epoll_event events[AT_ONCE];
	long checked = seconds_now();
	int got, i;

	fcntl(server->listener, F_SETFL, O_NONBLOCK);
	if (loop.epoll < 0 || !watch(&loop, EPOLL_CTL_ADD, server->listener, EPOLLIN, NULL))
		err(EXIT_FAILURE, "no epoll");
	server_announce(server);
	for (;;) {
		bool paused = !loop.accepting;

		got = epoll_wait(loop.epoll, events, AT_ONCE, loop.accepting ? 1000 : PAUSE_MS);
		for (i = 0; i < got; i++) {
			if (events[i].data.ptr)
				go_on(&loop, events[i].data.ptr);
			else
				accept_some(&loop);
		}
		if (paused)
			accept_again(&loop);
		if (seconds_now() == checked)
			continue;
		checked = seconds_now();
		connections_expire();
	}
}

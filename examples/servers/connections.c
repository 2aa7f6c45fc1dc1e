// SPDX-License-Identifier: MIT
#include "connections.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "examples/common.h"

#define SPARE_DESCRIPTORS 32 /* for files that belong to no connection */

#ifdef SERVER_FLEXSC
struct ferry_flexsc *server_flexsc;
#endif

static struct connection *all;
static size_t count;
static long timeout;

static struct lock table_lock = LOCK_INIT; /* over the list of free ones and every fd */
static struct connection *first_free;

/* ---- starting ---- */

struct server server_with_defaults(int descriptors)
{
	return (struct server){ .name = program_invocation_short_name,
				.address = "127.0.0.1",
				.connections = 4096,
				.timeout = 60,
				.descriptors = descriptors };
}

void server_option(struct server *server, int letter, const char *argument)
{
	switch (letter) {
	case 'a':
		server->address = argument;
		break;
	case 'p':
		server->port = parse_number("-p", argument, 0, 65535);
		break;
	case 'c':
		server->connections = parse_number("-c", argument, 1, 1000000);
		break;
	case 't':
		server->timeout = parse_number("-t", argument, 1, 1000000);
		break;
	default:
		break;
	}
}

/* The limit is raised as far as it goes; then there are as many connections as it allows. */
static void limit_connections(struct server *server)
{
	struct rlimit limit;
	long most;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	getrlimit(RLIMIT_NOFILE, &limit);
	most = ((long)limit.rlim_cur - SPARE_DESCRIPTORS) / server->descriptors;
	if (most < 1)
		errx(EXIT_FAILURE, "the limit of %lu open files leaves none for connections",
		     (unsigned long)limit.rlim_cur);
	if (server->connections > most)
		server->connections = most;
}

static void listen_at(struct server *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)server->port) };
	int yes = 1;

	if (inet_pton(AF_INET, server->address, &address.sin_addr) != 1)
		usage_error("-a is '%s': it must be an IPv4 address", server->address);
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server->listener < 0)
		err(EXIT_FAILURE, "no socket");
	setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	/* Accepted sockets inherit it. */
	setsockopt(server->listener, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (bind(server->listener, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(server->listener, SOMAXCONN))
		err(EXIT_FAILURE, "cannot listen on %s port %ld", server->address, server->port);
}

void server_open(struct server *server)
{
	size_t i;

	limit_connections(server);
	timeout = server->timeout;
	count = (size_t)server->connections;
	all = calloc(count, sizeof(*all));
	if (!all)
		err(EXIT_FAILURE, "no memory for %zu connections", count);
	for (i = count; i-- > 0;) {
		all[i].fd = -1;
		all[i].next = first_free;
		first_free = &all[i];
	}
	listen_at(server);
}

void server_announce(const struct server *server)
{
	struct sockaddr_in address = { 0 };
	socklen_t size = sizeof(address);

	if (getsockname(server->listener, (struct sockaddr *)&address, &size))
		err(EXIT_FAILURE, "no address");
	printf("%s: listening on %s port %d\n", server->name, server->address,
	       ntohs(address.sin_port));
	if (fflush(stdout))
		err(EXIT_FAILURE, "cannot write to standard output");
}

/* ---- connections ---- */

long seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

void connection_hurry(struct connection *connection)
{
	atomic_store_explicit(&connection->deadline, seconds_now() + timeout, memory_order_relaxed);
}

void connection_relax(struct connection *connection)
{
	atomic_store_explicit(&connection->deadline, 0, memory_order_relaxed);
}

bool connection_available(void)
{
	bool available;

	lock(&table_lock);
	available = first_free;
	unlock(&table_lock);
	return available;
}

struct connection *connection_open(int fd)
{
	struct connection *connection;

	lock(&table_lock);
	connection = first_free;
	first_free = connection->next;
	connection->fd = fd;
	unlock(&table_lock);
	connection_hurry(connection);
	return connection;
}

/* The number of the descriptor is forgotten first: it may soon be that of another file. */
void connection_close(struct connection *connection)
{
	int fd = connection->fd;

	lock(&table_lock);
	connection->fd = -1;
	unlock(&table_lock);
	call_close(fd);
	lock(&table_lock);
	connection->next = first_free;
	first_free = connection;
	unlock(&table_lock);
}

bool connection_send(struct connection *connection, const void *data, size_t size)
{
	const char *rest = data;
	long sent;

	while (size) {
		connection_hurry(connection);
		sent = call_send(connection->fd, rest, size);
		if (sent < 0 && sent != -EINTR)
			return false;
		rest += sent > 0 ? sent : 0;
		size -= sent > 0 ? (size_t)sent : 0;
	}
	return true;
}

static void expire(struct connection *connection, long now)
{
	long deadline = atomic_load_explicit(&connection->deadline, memory_order_relaxed);

	lock(&table_lock);
	if (connection->fd >= 0 && deadline && deadline < now)
		shutdown(connection->fd, SHUT_RDWR);
	unlock(&table_lock);
}

void connections_expire(void)
{
	long now = seconds_now();
	size_t i;

	for (i = 0; i < count; i++)
		expire(&all[i], now);
}

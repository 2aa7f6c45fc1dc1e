// SPDX-License-Identifier: MIT
/* A thread for each connection. */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "connections.h"

#define RETRY_MS 10 /* when there are too many connections, or too few resources */

static void *watch_deadlines(void *unused)
{
	(void)unused;
	for (;;) {
		thread_sleep_ms(1000);
		connections_expire();
	}
	return NULL;
}

static struct connection *accept_one(const struct server *server)
{
	long fd;

	while (!connection_available())
		thread_sleep_ms(RETRY_MS);
	while ((fd = call_accept(server->listener, 0)) < 0)
		if (fd != -EINTR && fd != -ECONNABORTED)
			thread_sleep_ms(RETRY_MS);
	return connection_open((int)fd);
}

_Noreturn void serve_with_threads(const struct server *server, void *(*serve)(void *connection))
{
	struct thread watcher;
	int error = thread_start(&watcher, watch_deadlines, NULL);

	if (error)
		errx(EXIT_FAILURE, "no thread: %s", strerror(-error));
	server_announce(server);
	for (;;) {
		struct connection *connection = accept_one(server);

		/* The one before closed its connection, and ends. */
		if (connection->has_thread)
			thread_join(&connection->thread);
		connection->has_thread = !thread_start(&connection->thread, serve, connection);
		if (!connection->has_thread)
			connection_close(connection);
	}
}

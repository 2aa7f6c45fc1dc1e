/* SPDX-License-Identifier: MIT */
/* All connections in one thread, which waits for events of any. */
#ifndef SERVERS_EVENTS_H
#define SERVERS_EVENTS_H

#include "connections.h"

/* What a connection waits for. */
enum wait { WAIT_INPUT, WAIT_ROOM, WAIT_NOTHING };

struct protocol {
	size_t state_size; /* of a connection, zeroed at first */

	/* Does what it can without waiting; WAIT_NOTHING closes the connection. */
	enum wait (*go_on)(struct connection *connection);

	/* Frees what the state holds, but not the state; or NULL. */
	void (*end)(struct connection *connection);
};

/** Serves forever. */
_Noreturn void serve_with_events(const struct server *server, const struct protocol *protocol);

/**
 * Receives what there is, or sends what fits: the number of bytes, 0 at the end of the input,
 * -EAGAIN, or -errno.
 */
long receive_now(struct connection *connection, void *data, size_t size);
long send_now(struct connection *connection, const void *data, size_t size);

#endif /* SERVERS_EVENTS_H */

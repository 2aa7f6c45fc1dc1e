/* SPDX-License-Identifier: MIT */
/*
 * The connections of a server: how many there may be, and until when each may take.  A connection
 * past its deadline is shut down, so that whoever reads from it or writes to it sees its end.
 */
#ifndef SERVERS_CONNECTIONS_H
#define SERVERS_CONNECTIONS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "threads.h"

struct connection {
	int fd;		      /* -1: closed */
	atomic_long deadline; /* seconds of the monotonic clock; 0: none */
	struct thread thread; /* of the builds with threads */
	bool has_thread;      /* that is not joined yet */
	/* Of the build with events. */
	void *state;
	bool waits_for_room;

	struct connection *next; /* in the list of free ones */
};

/* What the command line says. */
struct server {
	const char *name; /* of the program, for messages */
	const char *address;
	long port;	  /* 0: any */
	long connections; /* at most */
	long timeout;	  /* seconds a client may take */
	int descriptors;  /* that a connection may use */
	int listener;
};

#define SERVER_OPTIONS "a:p:c:t:"
#define SERVER_HELP                                                             \
	"  -a ADDRESS  listen on this IPv4 address; 127.0.0.1 by default\n"     \
	"  -p PORT     listen on this port; 0, the default, picks a free one\n" \
	"  -c N        connections at a time; 4096 by default\n"                \
	"  -t SECONDS  the time a client may take; 60 by default\n"             \
	"  -h, --help  print this text\n"

/** The defaults, for a server whose connections use up to so many DESCRIPTORS each. */
struct server server_with_defaults(int descriptors);

/** Applies option LETTER, one of SERVER_OPTIONS, with its argument. */
void server_option(struct server *server, int letter, const char *argument);

/** Listens, and makes room for the connections; exits if it cannot. */
void server_open(struct server *server);

/** Prints the address, once everything is ready. */
void server_announce(const struct server *server);

/** Whether there may be one more connection. */
bool connection_available(void);

/** Takes an available connection for FD. */
struct connection *connection_open(int fd);

/** Closes it; the caller must not use it any more. */
void connection_close(struct connection *connection);

/** Gives the client the time of the server's option from now on; or all the time it wants. */
void connection_hurry(struct connection *connection);
void connection_relax(struct connection *connection);

/** Sends all of it, as fast as the client takes it. */
bool connection_send(struct connection *connection, const void *data, size_t size);

/** Shuts down the connections whose time is over. */
void connections_expire(void);

/** Seconds of the monotonic clock. */
long seconds_now(void);

/** Runs SERVE in a thread for each connection, which it closes in the end; forever. */
_Noreturn void serve_with_threads(const struct server *server, void *(*serve)(void *connection));

#endif /* SERVERS_CONNECTIONS_H */

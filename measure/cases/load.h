/* SPDX-License-Identifier: MIT */
/* A client of a server on loopback: connections, and how many have a request under way. */
#ifndef LOAD_H
#define LOAD_H

#include <stdbool.h>
#include <stddef.h>

#define LOAD_MOST 256 /* connections */

struct bytes {
	const char *data;
	size_t size;
};

/* A request, which is always the same; so every answer has the length of the first. */
struct talk {
	struct bytes request;
	bool greets; /* MariaDB's beginning: the server sends a packet, and answers the hello */
	struct bytes hello;
};

struct load {
	const struct talk *talk;
	int fds[LOAD_MOST], epoll;
	size_t count, active; /* connections; with a request at a time */
	size_t answer;	      /* bytes */
	double *took;	      /* room for the time of each request, in ns; or NULL */
};

/** A port of the loopback interface that nobody listens on, or -errno. */
int load_free_port(void);

/**
 * Connects load->count times to PORT: 0, or -errno with nothing left open.  load->active is at
 * least 1 and at most load->count.
 */
int load_open(struct load *load, int port);

void load_close(struct load *load);

/**
 * Makes REQUESTS requests, each on any of the idle connections, until all are answered or
 * interrupted().  Returns 0, or -errno: -ETIMEDOUT when no answer came for 20 s, -EPROTO when one
 * was too long or too short.
 */
int load_run(struct load *load, long requests);

#endif /* LOAD_H */

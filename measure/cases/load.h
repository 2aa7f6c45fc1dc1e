/* SPDX-License-Identifier: MIT */
/* A client of an echo server on loopback: connections, and how many have a request under way. */
#ifndef LOAD_H
#define LOAD_H

#include <stddef.h>

#define LOAD_MOST 64 /* connections */

struct load {
	int fds[LOAD_MOST], epoll;
	size_t count, active; /* connections; with a request at a time */
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
 * interrupted().  Returns 0, or -errno: -ETIMEDOUT when no answer came for 20 s.
 */
int load_run(struct load *load, long requests);

#endif /* LOAD_H */

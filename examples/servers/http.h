/* SPDX-License-Identifier: MIT */
/*
 * HTTP/1.1 for files: requests in, replies out.  Only GET and HEAD are understood, and requests
 * have no body.
 */
#ifndef SERVERS_HTTP_H
#define SERVERS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "connections.h"

#define HTTP_HEAD_MAX 8192
#define HTTP_BUFFER 16384

/* Requests as they come: those after the first one are kept for later. */
struct http_input {
	char data[HTTP_HEAD_MAX + 1];
	size_t length;
};

struct http_reply {
	char data[HTTP_BUFFER];
	size_t length; /* of what is in it and not yet returned by http_fill() */
	int file;      /* -1: none */
	off_t offset, end;
	bool keep_alive;
	bool drain; /* the client may still be sending: its data must be read before closing */
};

/**
 * The length of the first request in INPUT, 0 while it is incomplete, or -STATUS when no request
 * can come of it.
 */
long http_complete(const struct http_input *input);

/**
 * Begins the reply to the first request of INPUT, which has LENGTH bytes and is removed, with
 * a file below the directory ROOT; or, for a negative LENGTH, the status -LENGTH.
 */
void http_begin(struct http_reply *reply, struct http_input *input, long length, int root);

/**
 * Puts the next part of the reply into its data: the number of bytes, 0 at the end, or -errno
 * when the rest of the file cannot be read.
 */
long http_fill(struct http_reply *reply);

/** Closes the file, at the end or earlier. */
void http_end(struct http_reply *reply);

/** Reads the command line: exits if it is wrong, else returns the directory's descriptor. */
int http_options(struct server *server, int argc, char *argv[]);

#endif /* SERVERS_HTTP_H */

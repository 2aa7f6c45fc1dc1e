// SPDX-License-Identifier: MIT
/* An HTTP server with a thread for each connection. */
#include "http.h"

static int root;

/* Receives until a request is complete: see http_complete(); also 0 when there is no more. */
static long read_request(struct connection *connection, struct http_input *input)
{
	long length, got;

	connection_hurry(connection);
	while (!(length = http_complete(input))) {
		got = call_receive(connection->fd, input->data + input->length,
				   HTTP_HEAD_MAX - input->length);
		if (got <= 0 && got != -EINTR)
			return 0;
		input->length += got > 0 ? (size_t)got : 0;
	}
	return length;
}

static bool send_reply(struct connection *connection, struct http_reply *reply)
{
	long length;

	while ((length = http_fill(reply)) > 0)
		if (!connection_send(connection, reply->data, (size_t)length))
			break;
	http_end(reply);
	return length == 0;
}

/* Closing with unread data would reset the connection, and the client might miss the reply. */
static void drain(struct connection *connection, struct http_input *input)
{
	shutdown(connection->fd, SHUT_WR);
	while (call_receive(connection->fd, input->data, sizeof(input->data)) > 0)
		;
}

static void *serve(void *argument)
{
	struct connection *connection = argument;
	struct http_input input;
	struct http_reply reply;
	bool more = true;
	long length;

	input.length = 0;
	while (more && (length = read_request(connection, &input))) {
		http_begin(&reply, &input, length, root);
		more = send_reply(connection, &reply) && reply.keep_alive;
		if (!more && reply.drain)
			drain(connection, &input);
	}
	connection_close(connection);
	return NULL;
}

int main(int argc, char *argv[])
{
	struct server server = server_with_defaults(2);

	root = http_options(&server, argc, argv);
	server_open(&server);
	serve_with_threads(&server, serve);
}

// SPDX-License-Identifier: MIT
/* An HTTP server in one thread, with epoll. */
#include "events.h"
#include "http.h"

static int root;

enum stage { READING, SENDING, DRAINING };

struct state {
	enum stage stage;
	struct http_input input;
	struct http_reply reply;
	size_t sent, to_send; /* of the reply's data */
};

/* Begins to send if a request is complete. */
static void look_for_request(struct state *state)
{
	long length = http_complete(&state->input);

	if (!length)
		return;
	http_begin(&state->reply, &state->input, length, root);
	state->sent = state->to_send = 0;
	state->stage = SENDING;
}

/* 1 after all was sent, or 0 or -errno as send_now(). */
static long send_reply(struct connection *connection, struct state *state)
{
	long got;

	for (;;) {
		if (state->sent == state->to_send) {
			got = http_fill(&state->reply);
			if (got <= 0)
				return got ? got : 1;
			state->sent = 0;
			state->to_send = (size_t)got;
		}
		got = send_now(connection, state->reply.data + state->sent,
			       state->to_send - state->sent);
		if (got < 0)
			return got;
		state->sent += (size_t)got;
	}
}

static enum wait send_more(struct connection *connection, struct state *state)
{
	long sent = send_reply(connection, state);

	if (sent == -EAGAIN)
		return WAIT_ROOM;
	http_end(&state->reply);
	if (sent < 0 || (!state->reply.keep_alive && !state->reply.drain))
		return WAIT_NOTHING;
	state->stage = READING;
	if (state->reply.keep_alive) {
		connection_hurry(connection);
		return WAIT_INPUT;
	}
	/* Closing with unread data would reset the connection, and lose the reply. */
	shutdown(connection->fd, SHUT_WR);
	state->stage = DRAINING;
	return WAIT_INPUT;
}

static enum wait receive_more(struct connection *connection, struct state *state)
{
	struct http_input *input = &state->input;
	long got;

	if (state->stage == DRAINING)
		input->length = 0;
	got = receive_now(connection, input->data + input->length, HTTP_HEAD_MAX - input->length);
	if (got == -EAGAIN)
		return WAIT_INPUT;
	if (got <= 0)
		return WAIT_NOTHING;
	input->length += (size_t)got;
	return WAIT_INPUT;
}

static enum wait go_on(struct connection *connection)
{
	struct state *state = connection->state;
	enum wait wait = WAIT_INPUT;

	if (state->stage != SENDING)
		wait = receive_more(connection, state);
	if (state->stage == READING && wait == WAIT_INPUT)
		look_for_request(state);
	while (state->stage == SENDING && wait == WAIT_INPUT) {
		wait = send_more(connection, state);
		if (state->stage == READING && wait == WAIT_INPUT)
			look_for_request(state);
	}
	return wait;
}

static void end(struct connection *connection)
{
	struct state *state = connection->state;

	if (state->stage == SENDING)
		http_end(&state->reply);
}

int main(int argc, char *argv[])
{
	static const struct protocol http = { sizeof(struct state), go_on, end };
	struct server server = server_with_defaults(2);

	root = http_options(&server, argc, argv);
	server_open(&server);
	serve_with_events(&server, &http);
}

// SPDX-License-Identifier: MIT
/* A cache in one thread, with epoll. */
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "events.h"

#define MUCH_OUTPUT 65536 /* is sent before more commands are looked at */

struct state {
	/* Input that is not yet understood is from start to end. */
	char input[LINE_MAX_BYTES];
	size_t start, end;

	/* Output that is not yet sent is from sent to length. */
	char *output;
	size_t sent, length, room;

	struct command command; /* under way */
	bool getting, setting;
	struct item *item; /* of a set, or NULL */
	size_t got;	   /* of its value and the end of that */
	char value_end[2];

	bool ending; /* nothing more is read */
};

/* ---- output ---- */

static bool reply(struct state *state, const void *data, size_t size)
{
	size_t room = state->room ? state->room : 1024;
	char *larger;

	while (room - state->length < size)
		room *= 2;
	if (room > state->room) {
		larger = realloc(state->output, room);
		if (!larger)
			return false;
		state->output = larger;
		state->room = room;
	}
	memcpy(state->output + state->length, data, size);
	state->length += size;
	return true;
}

static void reply_text(struct state *state, const char *text)
{
	if (!reply(state, text, strlen(text)))
		state->ending = true;
}

/* 0, or -errno as send_now(). */
static long flush(struct connection *connection, struct state *state)
{
	while (state->sent < state->length) {
		long sent = send_now(connection, state->output + state->sent,
				     state->length - state->sent);

		if (sent < 0)
			return sent;
		state->sent += (size_t)sent;
	}
	state->sent = state->length = 0;
	if (state->room > MUCH_OUTPUT) {
		free(state->output);
		state->output = NULL;
		state->room = 0;
	}
	return 0;
}

/* ---- commands ---- */

static void get_next(struct state *state)
{
	char head[VALUE_HEAD_MAX];
	struct item *item;
	size_t length;
	const char *key = cache_next_key(&state->command.keys, &length);

	if (!key) {
		state->getting = false;
		reply_text(state, "END\r\n");
		return;
	}
	item = store_get(key, length);
	if (!item)
		return;
	if (!reply(state, head, cache_value_head(head, item)) ||
	    !reply(state, item->value, item->value_length))
		state->ending = true;
	reply_text(state, "\r\n");
	item_release(item);
}

static void set_next(struct state *state)
{
	size_t length = state->command.value_length;
	char c = state->input[state->start];
	size_t some = state->end - state->start;

	if (state->got < length) {
		if (some > length - state->got)
			some = length - state->got;
		if (state->item)
			memcpy(state->item->value + state->got, state->input + state->start, some);
	} else {
		state->value_end[state->got - length] = c;
		some = 1;
	}
	state->start += some;
	state->got += some;
	if (state->got < length + sizeof(state->value_end))
		return;
	state->setting = false;
	reply_text(state, cache_end_set(&state->command, state->item,
					!memcmp(state->value_end, "\r\n", 2)));
}

static void begin(struct state *state, char *line, size_t length)
{
	struct command *command = &state->command;

	cache_parse(command, line, length);
	switch (command->verb) {
	case VERB_GET:
		state->getting = true;
		break;
	case VERB_SET:
		state->setting = true;
		state->item = cache_begin_set(command);
		state->got = 0;
		break;
	case VERB_QUIT:
		state->ending = true;
		break;
	default:
		reply_text(state, cache_answer(command));
	}
}

/* Begins the next command, if its line is complete. */
static bool begin_next(struct state *state)
{
	char *line = state->input + state->start;
	char *feed = memchr(line, '\n', state->end - state->start);

	if (!feed) {
		if (state->end - state->start == sizeof(state->input)) {
			reply_text(state, CACHE_LONG_LINE);
			state->ending = true;
		}
		return false;
	}
	state->start = (size_t)(feed + 1 - state->input);
	if (feed > line && feed[-1] == '\r')
		feed--;
	*feed = '\0';
	begin(state, line, (size_t)(feed - line));
	return true;
}

/* Goes a step on, and returns whether there may be another one without more input. */
static bool step(struct state *state)
{
	if (state->ending)
		return false;
	if (state->getting)
		get_next(state);
	else if (state->start == state->end)
		return false;
	else if (state->setting)
		set_next(state);
	else
		return begin_next(state);
	return true;
}

/* ---- connections ---- */

static enum wait receive_more(struct connection *connection, struct state *state)
{
	long got;

	state->end -= state->start;
	memmove(state->input, state->input + state->start, state->end);
	state->start = 0;
	got = receive_now(connection, state->input + state->end, sizeof(state->input) - state->end);
	if (got == -EAGAIN)
		return WAIT_INPUT;
	if (got <= 0)
		return WAIT_NOTHING;
	if (!state->end && !state->setting)
		connection_hurry(connection);
	state->end += (size_t)got;
	return WAIT_INPUT;
}

static enum wait go_on(struct connection *connection)
{
	struct state *state = connection->state;
	long error;

	if (!connection->waits_for_room && receive_more(connection, state) == WAIT_NOTHING)
		return WAIT_NOTHING;
	for (;;) {
		while (state->length < MUCH_OUTPUT && step(state))
			;
		if (!state->length)
			break;
		error = flush(connection, state);
		if (error)
			return error == -EAGAIN ? WAIT_ROOM : WAIT_NOTHING;
	}
	if (state->ending)
		return WAIT_NOTHING;
	if (state->start == state->end && !state->setting)
		connection_relax(connection);
	return WAIT_INPUT;
}

static void end(struct connection *connection)
{
	struct state *state = connection->state;

	if (state->setting && state->item)
		item_release(state->item);
	free(state->output);
}

int main(int argc, char *argv[])
{
	static const struct protocol cache = { sizeof(struct state), go_on, end };
	struct server server = server_with_defaults(1);

	cache_options(&server, argc, argv);
	server_open(&server);
	serve_with_events(&server, &cache);
}

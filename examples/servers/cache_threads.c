// SPDX-License-Identifier: MIT
/* A cache with a thread for each connection. */
#include <stdlib.h>
#include <string.h>

#include "cache.h"

/* Input that is not yet understood is from start to end; output waits for more of it. */
struct session {
	struct connection *connection;
	char input[LINE_MAX_BYTES];
	size_t start, end;
	char output[16384];
	size_t pending;
};

static bool flush(struct session *session)
{
	size_t size = session->pending;

	session->pending = 0;
	return connection_send(session->connection, session->output, size);
}

static bool reply(struct session *session, const void *data, size_t size)
{
	if (session->pending + size > sizeof(session->output) && !flush(session))
		return false;
	if (size > sizeof(session->output))
		return connection_send(session->connection, data, size);
	memcpy(session->output + session->pending, data, size);
	session->pending += size;
	return true;
}

static bool reply_text(struct session *session, const char *text)
{
	return reply(session, text, strlen(text));
}

/* The length, or 0 at the end.  Replies are sent before waiting, and no earlier. */
static size_t receive(struct session *session, char *data, size_t size)
{
	long length;

	if (session->pending && !flush(session))
		return 0;
	do
		length = call_receive(session->connection->fd, data, size);
	while (length == -EINTR);
	return length > 0 ? (size_t)length : 0;
}

static bool receive_more(struct session *session)
{
	size_t got;

	session->end -= session->start;
	memmove(session->input, session->input + session->start, session->end);
	session->start = 0;
	got = receive(session, session->input + session->end,
		      sizeof(session->input) - session->end);
	session->end += got;
	return got;
}

/* The next line without its end, or NULL when there is none.  Its beginning may take any time. */
static char *read_line(struct session *session, size_t *length)
{
	char *line, *feed;

	if (session->start == session->end) {
		if (!flush(session))
			return NULL;
		connection_relax(session->connection);
		if (!receive_more(session))
			return NULL;
	}
	connection_hurry(session->connection);
	while (!(feed = memchr(session->input + session->start, '\n',
			       session->end - session->start))) {
		if (session->end - session->start == sizeof(session->input)) {
			reply_text(session, CACHE_LONG_LINE);
			flush(session);
			return NULL;
		}
		if (!receive_more(session))
			return NULL;
	}
	line = session->input + session->start;
	session->start = (size_t)(feed + 1 - session->input);
	if (feed > line && feed[-1] == '\r')
		feed--;
	*feed = '\0';
	*length = (size_t)(feed - line);
	return line;
}

/* Reads SIZE bytes to DATA; or nowhere, if that is NULL. */
static bool read_exactly(struct session *session, char *data, size_t size)
{
	while (size) {
		size_t some = session->end - session->start;

		if (!some) {
			if (!receive_more(session))
				return false;
			continue;
		}
		if (some > size)
			some = size;
		if (data) {
			memcpy(data, session->input + session->start, some);
			data += some;
		}
		session->start += some;
		size -= some;
	}
	return true;
}

static bool get(struct session *session, struct command *command)
{
	char head[VALUE_HEAD_MAX];
	const char *key;
	size_t length;
	bool sent = true;

	while (sent && (key = cache_next_key(&command->keys, &length))) {
		struct item *item = store_get(key, length);

		if (!item)
			continue;
		sent = reply(session, head, cache_value_head(head, item)) &&
		       reply(session, item->value, item->value_length) &&
		       reply_text(session, "\r\n");
		item_release(item);
	}
	return sent && reply_text(session, "END\r\n");
}

static bool set(struct session *session, struct command *command)
{
	struct item *item = cache_begin_set(command);
	char end[2];

	if (!read_exactly(session, item ? item->value : NULL, command->value_length) ||
	    !read_exactly(session, end, sizeof(end))) {
		if (item)
			item_release(item);
		return false;
	}
	return reply_text(session, cache_end_set(command, item, !memcmp(end, "\r\n", 2)));
}

static bool execute(struct session *session, struct command *command)
{
	switch (command->verb) {
	case VERB_GET:
		return get(session, command);
	case VERB_SET:
		return set(session, command);
	case VERB_QUIT:
		flush(session);
		return false;
	default:
		return reply_text(session, cache_answer(command));
	}
}

static void *serve(void *argument)
{
	struct connection *connection = argument;
	struct session *session = malloc(sizeof(*session));
	struct command command;
	size_t length;
	char *line;

	if (session) {
		session->connection = connection;
		session->start = session->end = session->pending = 0;
		while ((line = read_line(session, &length))) {
			cache_parse(&command, line, length);
			if (!execute(session, &command))
				break;
		}
	}
	free(session);
	connection_close(connection);
	return NULL;
}

int main(int argc, char *argv[])
{
	struct server server = server_with_defaults(1);

	cache_options(&server, argc, argv);
	server_open(&server);
	serve_with_threads(&server, serve);
}

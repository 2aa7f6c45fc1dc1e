/* SPDX-License-Identifier: MIT */
/*
 * The text protocol of memcached, as its protocol.txt describes it: get, set, delete, version
 * and quit.  Limits are those of memcached: keys of 250 bytes, values of 1 MiB.
 */
#ifndef SERVERS_CACHE_H
#define SERVERS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "connections.h"
#include "store.h"

#define LINE_MAX_BYTES 32768 /* for a get of many keys */

enum verb { VERB_GET, VERB_SET, VERB_DELETE, VERB_VERSION, VERB_QUIT, VERB_ERROR };

struct command {
	enum verb verb;
	char *keys; /* of get: all of them, for cache_next_key() */
	const char *key;
	size_t key_length;
	uint32_t flags;
	time_t expires;
	size_t value_length;
	bool noreply;
	const char *error; /* the reply, if not NULL; the value of a set follows nevertheless */
};

/** Understands LINE of LENGTH bytes, which is ended by a NUL and will be changed. */
void cache_parse(struct command *command, char *line, size_t length);

/** Takes the next key of a get off the list, LENGTH bytes long; NULL after the last one. */
const char *cache_next_key(char **keys, size_t *length);

/* "VALUE key flags length\r\n" */
#define VALUE_HEAD_MAX (KEY_MAX + 64)

/** Writes the line before the value of ITEM: its length. */
size_t cache_value_head(char head[VALUE_HEAD_MAX], const struct item *item);

/** The item for the value of a set, or NULL: then the value is to be skipped. */
struct item *cache_begin_set(struct command *command);

/** Stores what cache_begin_set() returned if "\r\n" followed the value.  Returns the reply. */
const char *cache_end_set(const struct command *command, struct item *item, bool well_ended);

/** The reply to a command other than get, set and quit. */
const char *cache_answer(const struct command *command);

#define CACHE_LONG_LINE "CLIENT_ERROR line too long\r\n"

/** Reads the command line, and makes the store; exits if it is wrong. */
void cache_options(struct server *server, int argc, char *argv[]);

#endif /* SERVERS_CACHE_H */

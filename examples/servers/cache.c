// SPDX-License-Identifier: MIT
#include "cache.h"

#include <ctype.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"

#define RELATIVE_MAX (60 * 60 * 24 * 30) /* longer times are those of a clock */
#define EXPIRED 1			 /* long ago */

#define BAD_FORMAT "CLIENT_ERROR bad command line format\r\n"

/* ---- words ---- */

/* Takes a word off REST; NULL when there is none. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " "), *end = word + strcspn(word, " ");

	*rest = *end ? end + 1 : end;
	*end = '\0';
	return *word ? word : NULL;
}

/* Like memcached, it takes control characters, which memaslap uses. */
static bool is_key(const char *word)
{
	size_t length = strlen(word);

	return length && length <= KEY_MAX;
}

static bool read_number(const char *word, long long min, long long max, long long *number)
{
	char *end;

	if (!word || (!isdigit((unsigned char)*word) && *word != '-'))
		return false;
	errno = 0;
	*number = strtoll(word, &end, 10);
	return !*end && !errno && *number >= min && *number <= max;
}

/* ---- commands ---- */

static void fail(struct command *command, const char *error)
{
	command->verb = VERB_ERROR;
	command->error = error;
}

/* The keys stay in one text, and are looked at one by one while they are answered. */
static void parse_get(struct command *command, char *rest)
{
	char *word = rest;
	size_t length, count = 0;

	command->verb = VERB_GET;
	command->keys = rest;
	for (; *(word += strspn(word, " ")); word += length, count++) {
		length = strcspn(word, " ");
		if (length > KEY_MAX)
			fail(command, BAD_FORMAT);
	}
	if (!count)
		fail(command, "ERROR\r\n");
}

const char *cache_next_key(char **keys, size_t *length)
{
	const char *key = next_word(keys);

	*length = key ? strlen(key) : 0;
	return key;
}

static time_t absolute(long long expires)
{
	if (expires < 0)
		return EXPIRED;
	return expires && expires <= RELATIVE_MAX ? time(NULL) + expires : (time_t)expires;
}

static void parse_set(struct command *command, char *rest)
{
	const char *key = next_word(&rest);
	long long flags, expires, length;
	const char *option;

	command->verb = VERB_SET;
	if (!read_number(next_word(&rest), 0, UINT32_MAX, &flags) ||
	    !read_number(next_word(&rest), INT64_MIN, INT64_MAX, &expires) ||
	    !read_number(next_word(&rest), 0, INT32_MAX, &length)) {
		fail(command, key ? BAD_FORMAT : "ERROR\r\n");
		return;
	}
	option = next_word(&rest);
	command->noreply = option && !strcmp(option, "noreply");
	command->key = key;
	command->key_length = strlen(key);
	command->flags = (uint32_t)flags;
	command->expires = absolute(expires);
	command->value_length = (size_t)length;
	if (!is_key(key))
		command->error = BAD_FORMAT;
	else if (command->value_length > VALUE_MAX)
		command->error = "SERVER_ERROR object too large for cache\r\n";
}

/* The time of earlier versions may be 0 only. */
static void parse_delete(struct command *command, char *rest)
{
	const char *key = next_word(&rest), *option = next_word(&rest);

	command->verb = VERB_DELETE;
	if (option && !strcmp(option, "0"))
		option = next_word(&rest);
	command->noreply = option && !strcmp(option, "noreply");
	if (!key) {
		fail(command, "ERROR\r\n");
		return;
	}
	if (!is_key(key) || (option && !command->noreply) || next_word(&rest))
		fail(command, BAD_FORMAT);
	command->key = key;
	command->key_length = strlen(key);
}

void cache_parse(struct command *command, char *line, size_t length)
{
	char *rest = line;
	const char *verb;

	*command = (struct command){ .verb = VERB_ERROR, .error = "ERROR\r\n" };
	if (strlen(line) != length)
		return;
	verb = next_word(&rest);
	if (!verb)
		return;
	command->error = NULL;
	if (!strcmp(verb, "get"))
		parse_get(command, rest);
	else if (!strcmp(verb, "set"))
		parse_set(command, rest);
	else if (!strcmp(verb, "delete"))
		parse_delete(command, rest);
	else if (!strcmp(verb, "version"))
		command->verb = VERB_VERSION;
	else if (!strcmp(verb, "quit"))
		command->verb = VERB_QUIT;
	else
		fail(command, "ERROR\r\n");
}

/* ---- replies ---- */

size_t cache_value_head(char head[VALUE_HEAD_MAX], const struct item *item)
{
	return (size_t)snprintf(head, VALUE_HEAD_MAX, "VALUE %.*s %u %zu\r\n",
				(int)item->key_length, item->key, item->flags, item->value_length);
}

/* An earlier value must not survive a newer one that could not be stored. */
struct item *cache_begin_set(struct command *command)
{
	struct item *item = NULL;

	if (!command->error) {
		item = item_new(command->key, command->key_length, command->value_length);
		if (!item)
			command->error = "SERVER_ERROR out of memory storing object\r\n";
	}
	if (!item) {
		store_delete(command->key, command->key_length);
		return NULL;
	}
	item->flags = command->flags;
	item->expires = command->expires;
	return item;
}

const char *cache_end_set(const struct command *command, struct item *item, bool well_ended)
{
	const char *reply = "STORED\r\n";

	if (!well_ended)
		reply = "CLIENT_ERROR bad data chunk\r\n";
	else if (item)
		store_set(item);
	if (item)
		item_release(item);
	if (command->error)
		reply = command->error;
	return command->noreply ? "" : reply;
}

const char *cache_answer(const struct command *command)
{
	const char *reply = "VERSION ferry\r\n";

	if (command->verb == VERB_ERROR)
		return command->error;
	if (command->verb == VERB_DELETE)
		reply = store_delete(command->key, command->key_length) ? "DELETED\r\n" :
									  "NOT_FOUND\r\n";
	return command->noreply ? "" : reply;
}

/* ---- the command line ---- */

void cache_options(struct server *server, int argc, char *argv[])
{
	char help[2048];
	long megabytes = 64;
	int letter;

	snprintf(help, sizeof(help),
		 "Usage: %s [OPTION]...\nA cache that speaks memcached's text protocol: get, set, "
		 "delete.\n\n  -m MIB      memory for keys and values; 64 by default\n%s",
		 server->name, SERVER_HELP);
	while ((letter = next_option(argc, argv, "m:" SERVER_OPTIONS, help)) != -1) {
		if (letter == 'm')
			megabytes = parse_number("-m", optarg, 2, 1L << 20);
		else
			server_option(server, letter, optarg);
	}
	if (optind < argc)
		usage_error("'%s' is one argument too many", argv[optind]);
	store_open((size_t)megabytes << 20);
}

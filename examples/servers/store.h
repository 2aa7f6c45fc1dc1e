/* SPDX-License-Identifier: MIT */
/*
 * What the cache holds: values by key, the least recently used of which make room for new ones.
 * All memory counts, that of values under way included.
 */
#ifndef SERVERS_STORE_H
#define SERVERS_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define KEY_MAX 250
#define VALUE_MAX (1 << 20)

struct item {
	struct item *next;	    /* in its bucket */
	struct item *newer, *older; /* in the order of use */
	unsigned int users;	    /* the store is one while the item can be found */
	uint32_t flags;
	time_t expires; /* 0: never */
	size_t key_length, value_length;
	char *value; /* behind the key */
	char key[];
};

/** Makes an empty store of at most LIMIT bytes; exits if there is no memory. */
void store_open(size_t limit);

/** An item that nobody finds yet, with room for its value, or NULL if no memory can be had. */
struct item *item_new(const char *key, size_t key_length, size_t value_length);

/** Gives an item back that item_new() or store_get() returned. */
void item_release(struct item *item);

/** Lets the item be found, in place of another one with its key.  The caller still has it. */
void store_set(struct item *item);

/** The item with this key, or NULL. */
struct item *store_get(const char *key, size_t key_length);

/** Whether there was one. */
bool store_delete(const char *key, size_t key_length);

#endif /* SERVERS_STORE_H */

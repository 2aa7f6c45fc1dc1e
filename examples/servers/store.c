// SPDX-License-Identifier: MIT
#include "store.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "threads.h"

#define BYTES_PER_BUCKET 512
#define PRIME ((UINT64_C(1) << 61) - 1)

static struct lock store_lock = LOCK_INIT; /* over all that follows */
static struct item **buckets;
static size_t bucket_count;
static struct item *newest, *oldest;
static size_t used, limit;
static uint64_t secret;

void store_open(size_t bytes)
{
	limit = bytes;
	bucket_count = bytes / BYTES_PER_BUCKET;
	buckets = calloc(bucket_count, sizeof(struct item *));
	if (!buckets || getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		err(EXIT_FAILURE, "cannot make a store of %zu bytes", bytes);
	secret = secret % (PRIME - 1) + 1;
}

/*
 * The key's bytes are the coefficients of a polynomial, evaluated at a secret place in a prime
 * field.  Without the secret nobody finds many keys of one bucket.
 */
static size_t bucket_of(const char *key, size_t length)
{
	uint64_t hash = length, some;

	while (length) {
		size_t size = length < 7 ? length : 7;

		some = 0;
		memcpy(&some, key, size);
		hash = (uint64_t)(((unsigned __int128)hash * secret + some) % PRIME);
		key += size;
		length -= size;
	}
	return hash % bucket_count;
}

/* ---- with the lock ---- */

static size_t size_of(const struct item *item)
{
	return sizeof(*item) + item->key_length + item->value_length;
}

static void drop_user(struct item *item)
{
	if (--item->users)
		return;
	used -= size_of(item);
	free(item);
}

static void put_first(struct item *item)
{
	item->newer = NULL;
	item->older = newest;
	if (newest)
		newest->newer = item;
	else
		oldest = item;
	newest = item;
}

static void take_out(struct item *item)
{
	if (item->newer)
		item->newer->older = item->older;
	else
		newest = item->older;
	if (item->older)
		item->older->newer = item->newer;
	else
		oldest = item->newer;
}

static struct item **find(const char *key, size_t length)
{
	struct item **place = &buckets[bucket_of(key, length)];

	while (*place &&
	       ((*place)->key_length != length || memcmp((*place)->key, key, length) != 0))
		place = &(*place)->next;
	return place;
}

static void forget(struct item **place)
{
	struct item *item = *place;

	*place = item->next;
	take_out(item);
	drop_user(item);
}

/* Whether ROOM bytes are free, after old items were dropped for it. */
static bool make_room(size_t room)
{
	while (oldest && used + room > limit)
		forget(find(oldest->key, oldest->key_length));
	return used + room <= limit;
}

/* ---- for all ---- */

struct item *item_new(const char *key, size_t key_length, size_t value_length)
{
	size_t size = sizeof(struct item) + key_length + value_length;
	struct item *item = NULL;

	lock(&store_lock);
	if (make_room(size))
		item = malloc(size);
	if (item) {
		*item = (struct item){ .users = 1,
				       .key_length = key_length,
				       .value_length = value_length };
		item->value = item->key + key_length;
		memcpy(item->key, key, key_length);
		used += size;
	}
	unlock(&store_lock);
	return item;
}

void item_release(struct item *item)
{
	lock(&store_lock);
	drop_user(item);
	unlock(&store_lock);
}

void store_set(struct item *item)
{
	struct item **place;

	lock(&store_lock);
	place = find(item->key, item->key_length);
	if (*place)
		forget(place);
	place = &buckets[bucket_of(item->key, item->key_length)];
	item->next = *place;
	*place = item;
	put_first(item);
	item->users++;
	unlock(&store_lock);
}

/* The place of an item that has not expired, or NULL. */
static struct item **find_live(const char *key, size_t length)
{
	struct item **place = find(key, length);

	if (*place && (*place)->expires && (*place)->expires <= time(NULL))
		forget(place);
	else if (*place)
		return place;
	return NULL;
}

struct item *store_get(const char *key, size_t key_length)
{
	struct item **place, *item = NULL;

	lock(&store_lock);
	place = find_live(key, key_length);
	if (place) {
		item = *place;
		take_out(item);
		put_first(item);
		item->users++;
	}
	unlock(&store_lock);
	return item;
}

bool store_delete(const char *key, size_t key_length)
{
	struct item **place;

	lock(&store_lock);
	place = find_live(key, key_length);
	if (place)
		forget(place);
	unlock(&store_lock);
	return place;
}

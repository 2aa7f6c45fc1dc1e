// SPDX-License-Identifier: MIT
#include "place.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define ALIGNMENT ((size_t)16)
#define FIRST_ROOM ((size_t)4096)

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* SIZE bytes of the arena, or NULL. */
static char *take(struct shared_arena *arena, size_t size)
{
	size_t used = atomic_load_explicit(&arena->used, memory_order_relaxed);
	size_t start;

	if (!size)
		return arena->memory;
	do {
		start = (used + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
		if (start < used || start > arena->size || arena->size - start < size)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&arena->used, &used, start + size, memory_order_relaxed, memory_order_relaxed));
	return arena->memory + start;
}

static bool take_room(struct place *place, size_t room)
{
	place->data = take(place->arena, room);
	place->room = place->data ? room : 0;
	return place->data;
}

int ferry__place_init(struct place *place, const struct ferry_file *file, size_t size,
		      struct shared_arena *arena)
{
	*place = (struct place){ .limit = file->room };
	if (file->buffer) {
		place->data = file->buffer;
		place->room = file->room;
		return 0;
	}
	if (!arena)
		return -ENOBUFS;
	place->arena = arena;
	if (!file->room)
		place->limit = SIZE_MAX;
	if (size && take_room(place, min(size + 1, place->limit)))
		return 0;
	if (take_room(place, min(size, place->limit)))
		return 0;
	return -ENOBUFS;
}

bool ferry__place_grow(struct place *place)
{
	size_t room = place->room < FIRST_ROOM ? FIRST_ROOM : 2 * place->room;
	struct place larger = *place;

	if (!place->arena || place->room >= place->limit)
		return false;
	if (!take_room(&larger, min(room, place->limit)))
		return false;
	if (place->length)
		memcpy(larger.data, place->data, place->length);
	*place = larger;
	return true;
}

void ferry__place_trim(struct place *place)
{
	size_t end;

	if (!place->arena || !place->room)
		return;
	end = (size_t)(place->data - place->arena->memory) + place->room;
	if (atomic_compare_exchange_strong_explicit(&place->arena->used, &end,
						    end - place->room + place->length,
						    memory_order_relaxed, memory_order_relaxed))
		place->room = place->length;
}

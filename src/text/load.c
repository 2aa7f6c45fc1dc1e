// SPDX-License-Identifier: MIT
/* Giving an image memory to run in. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "image.h"

#define ALIGNMENT 64UL /* a cache line, and a slot */

static size_t aligned(size_t size)
{
	return (size + ALIGNMENT - 1) & -ALIGNMENT;
}

/* All data in one mapping, so that untouched buffers take no memory. */
static int load_data(struct loaded *loaded)
{
	const struct image *image = loaded->image;
	size_t offset = 0;
	size_t i;

	for (i = 0; i < image->data_count; i++)
		offset += aligned(image->data[i].size);
	loaded->arena_size = offset ? offset : ALIGNMENT;
	loaded->arena = mmap(NULL, loaded->arena_size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (loaded->arena == MAP_FAILED) {
		loaded->arena = NULL;
		return -ENOMEM;
	}
	offset = 0;
	for (i = 0; i < image->data_count; i++) {
		loaded->data[i] = (char *)loaded->arena + offset;
		if (image->data[i].contents)
			memcpy(loaded->data[i], image->data[i].contents, image->data[i].size);
		offset += aligned(image->data[i].size);
	}
	return 0;
}

static uint64_t base_address(const struct loaded *loaded, const struct relocation *relocation)
{
	if (relocation->base == BASE_DATA)
		return (uint64_t)loaded->data[relocation->object];
	if (relocation->base == BASE_RESULTS)
		return (uint64_t)loaded->rets;
	return (uint64_t)loaded->slots;
}

static void relocate(const struct loaded *loaded, const struct relocation *relocation)
{
	const struct word_place *place = &relocation->place;
	uint64_t word;
	void *where;

	if (place->holder == HOLDER_SLOT)
		where = &loaded->slots[place->index].arg[place->word];
	else
		where = (uint64_t *)loaded->data[place->index] + place->word;
	memcpy(&word, where, sizeof(word));
	word += base_address(loaded, relocation);
	memcpy(where, &word, sizeof(word));
}

int image_load(const struct image *image, struct loaded *loaded)
{
	size_t slots_size = image->slot_count * sizeof(struct ferry_slot);
	size_t i;

	*loaded = (struct loaded){ .ncall = image->slot_count, .image = image };
	loaded->slots = aligned_alloc(ALIGNMENT, slots_size ? slots_size : ALIGNMENT);
	loaded->rets = calloc(image->slot_count + 1, sizeof(*loaded->rets));
	loaded->data = calloc(image->data_count + 1, sizeof(*loaded->data));
	if (!loaded->slots || !loaded->rets || !loaded->data || load_data(loaded)) {
		image_unload(loaded);
		return -ENOMEM;
	}
	if (slots_size)
		memcpy(loaded->slots, image->slots, slots_size);
	for (i = 0; i < image->relocation_count; i++)
		relocate(loaded, &image->relocations[i]);
	return 0;
}

void image_unload(struct loaded *loaded)
{
	free(loaded->slots);
	free(loaded->rets);
	free(loaded->data);
	if (loaded->arena)
		munmap(loaded->arena, loaded->arena_size);
	*loaded = (struct loaded){ 0 };
}

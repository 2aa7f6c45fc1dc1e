// SPDX-License-Identifier: MIT
/* Giving an image memory to run in. */
#include <errno.h>
#include <limits.h>
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

/* Data is shared by all copies; results and slots are the copy's own. */
static uint64_t base_address(const struct loaded *loaded, const struct relocation *relocation,
			     size_t copy)
{
	size_t first = copy * loaded->image->slot_count;

	if (relocation->base == BASE_DATA)
		return (uint64_t)loaded->data[relocation->object];
	if (relocation->base == BASE_RESULTS)
		return (uint64_t)(loaded->rets + first);
	return (uint64_t)(loaded->slots + first);
}

static void relocate(const struct loaded *loaded, const struct relocation *relocation, size_t copy)
{
	const struct word_place *place = &relocation->place;
	uint64_t word;
	void *where;

	if (place->holder == HOLDER_SLOT)
		where = &loaded->slots[copy * loaded->image->slot_count + place->index]
				 .arg[place->word];
	else if (!copy)
		where = (uint64_t *)loaded->data[place->index] + place->word;
	else
		return;
	memcpy(&word, where, sizeof(word));
	word += base_address(loaded, relocation, copy);
	memcpy(where, &word, sizeof(word));
}

static void load_copy(const struct loaded *loaded, size_t copy)
{
	const struct image *image = loaded->image;
	size_t i;

	if (image->slot_count)
		memcpy(loaded->slots + copy * image->slot_count, image->slots,
		       image->slot_count * sizeof(*image->slots));
	for (i = 0; i < image->relocation_count; i++)
		relocate(loaded, &image->relocations[i], copy);
}

/* Room for COPIES, before they are loaded. */
static int allocate(const struct image *image, size_t copies, struct loaded *loaded)
{
	size_t slots_size = image->slot_count * copies * sizeof(struct batch_slot);

	*loaded = (struct loaded){ .ncall = image->slot_count * copies, .image = image };
	loaded->slots = aligned_alloc(ALIGNMENT, slots_size ? slots_size : ALIGNMENT);
	loaded->rets = calloc(loaded->ncall + 1, sizeof(*loaded->rets));
	loaded->data = calloc(image->data_count + 1, sizeof(*loaded->data));
	if (loaded->slots && loaded->rets && loaded->data && !load_data(loaded))
		return 0;
	image_unload(loaded);
	return -ENOMEM;
}

int image_load(const struct image *image, struct loaded *loaded)
{
	int error = allocate(image, 1, loaded);

	if (!error)
		load_copy(loaded, 0);
	return error;
}

/* JUMP of slot I of a body, made to end at the end of the body where it leads out of it. */
static short inside(short jump, size_t i, size_t body)
{
	size_t left = body - 1 - i;

	return (short)(jump < 0 || (size_t)jump > left ? left : (size_t)jump);
}

int image_load_copies(const struct image *image, size_t copies, struct loaded *loaded)
{
	size_t body = image->slot_count;
	size_t i;
	int error;

	if (!body)
		return image_load(image, loaded);
	if (body > SHRT_MAX || copies > IMAGE_SLOTS_MAX / body)
		return -E2BIG;
	error = allocate(image, copies, loaded);
	if (error)
		return error;
	for (i = 0; i < copies; i++)
		load_copy(loaded, i);
	for (i = 0; i < loaded->ncall; i++) {
		struct batch_slot *slot = &loaded->slots[i];

		slot->jump_fail = inside(slot->jump_fail, i % body, body);
		slot->jump_zero = inside(slot->jump_zero, i % body, body);
		slot->jump_pos = inside(slot->jump_pos, i % body, body);
	}
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

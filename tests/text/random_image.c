// SPDX-License-Identifier: MIT
/* Random images, for round trips. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_image.h"

#define SLOTS_MAX 12
#define DATA_MAX 6
#define BYTES_MAX 150
#define LABELS_MAX 10

static unsigned int below(unsigned int *seed, unsigned int limit)
{
	return (unsigned int)rand_r(seed) % limit;
}

static uint64_t random_word(unsigned int *seed)
{
	uint64_t word = (uint64_t)rand_r(seed) << 40 ^ (uint64_t)rand_r(seed) << 20 ^
			(uint64_t)rand_r(seed);

	switch (below(seed, 5)) {
	case 0:
		return 0;
	case 1:
		return below(seed, 100);
	case 2:
		return -(uint64_t)below(seed, 100);
	case 3:
		return (uint64_t)1 << below(seed, 64);
	default:
		return word;
	}
}

static short random_short(unsigned int *seed)
{
	switch (below(seed, 4)) {
	case 0:
		return -1;
	case 1:
		return (short)below(seed, SLOTS_MAX);
	case 2:
		return 0;
	default:
		return (short)rand_r(seed);
	}
}

static void fill_slot(struct ferry_slot *slot, unsigned int *seed)
{
	unsigned int count = below(seed, FERRY_MAX_ARGS + 1);
	unsigned int k;

	slot->nr = below(seed, 4) ? (short)below(seed, 300) : random_short(seed);
	slot->jump_fail = random_short(seed);
	slot->jump_zero = below(seed, 3) ? random_short(seed) : slot->jump_fail;
	slot->jump_pos = below(seed, 3) ? random_short(seed) : slot->jump_fail;
	slot->argc = (unsigned char)(below(seed, 9) ? count : (unsigned int)rand_r(seed));
	slot->reserved = (unsigned char)(below(seed, 12) ? 0 : rand_r(seed));
	for (k = 0; k < count || (k < FERRY_MAX_ARGS && !below(seed, 9)); k++) {
		slot->arg[k] = (long)random_word(seed);
		if (below(seed, 3))
			continue;
		slot->argc |= below(seed, 9) ? FERRY_ARGC_FORWARD : 0;
		slot->arg[k] = below(seed, 9) ? 0 : slot->arg[k];
		slot->from[k] = (unsigned char)below(seed, below(seed, 9) ? 4 : 256);
	}
}

static char *random_name(unsigned int *seed, const char *prefix, unsigned int number)
{
	char name[IMAGE_NAME_MAX + 1];
	int length = snprintf(name, sizeof(name), "%s%u", prefix, number);

	while (length < 9 && below(seed, 3))
		name[length++] = "_aZ9"[below(seed, 4)];
	return strndup(name, (size_t)length);
}

static void fill_data(struct data *data, unsigned int *seed, unsigned int number)
{
	unsigned int i;

	data->kind = (enum data_kind)below(seed, DATA_WORDS + 1);
	data->name = random_name(seed, "d_", number);
	data->size = below(seed, BYTES_MAX);
	if (data->kind == DATA_BUFFER)
		return;
	if (data->kind == DATA_WORDS)
		data->size *= sizeof(uint64_t);
	data->contents = calloc(1, data->size + 1);
	for (i = 0; i < data->size; i++)
		((char *)data->contents)[i] =
			below(seed, 4) ? "\0\n\"\\#'017x \t"[below(seed, 12)] : (char)rand_r(seed);
	data->size += data->kind == DATA_STRING;
	if (data->kind == DATA_STRING)
		((char *)data->contents)[data->size - 1] = '\0';
}

static void add_relocation(struct image *image, unsigned int *seed, struct word_place place)
{
	struct relocation *relocation = &image->relocations[image->relocation_count];
	unsigned int base = below(seed, 3);

	if (base == 0 && image->data_count)
		*relocation = (struct relocation){ place, BASE_DATA,
						   below(seed, (unsigned int)image->data_count) };
	else if (image->slot_count)
		*relocation =
			(struct relocation){ place, base == 1 ? BASE_RESULTS : BASE_SLOTS, 0 };
	else
		return;
	image->relocation_count++;
	if (below(seed, 2))
		*(uint64_t *)image_word(image, place) = below(seed, 64 * SLOTS_MAX);
}

static void add_relocations(struct image *image, unsigned int *seed)
{
	uint32_t i, k;

	image->relocations = calloc(SLOTS_MAX * FERRY_MAX_ARGS + DATA_MAX * BYTES_MAX,
				    sizeof(*image->relocations));
	for (i = 0; i < image->slot_count; i++)
		for (k = 0; k < FERRY_MAX_ARGS; k++)
			if (k < image->slots[i].argc % 8U && !below(seed, 3))
				add_relocation(image, seed,
					       (struct word_place){ HOLDER_SLOT, i, k });
	for (i = 0; i < image->data_count; i++)
		for (k = 0; k < image->data[i].size / 8; k++)
			if (image->data[i].kind == DATA_WORDS && !below(seed, 3))
				add_relocation(image, seed,
					       (struct word_place){ HOLDER_DATA, i, k });
}

static void add_labels(struct image *image, unsigned int *seed)
{
	size_t count = below(seed, LABELS_MAX + 1);
	uint32_t slot = 0;

	image->labels = calloc(LABELS_MAX, sizeof(*image->labels));
	while (image->label_count < count) {
		struct label *label = &image->labels[image->label_count];

		slot += below(seed, 3);
		if (slot > image->slot_count)
			return;
		label->slot = slot;
		label->name = random_name(seed, "l_", (unsigned int)image->label_count++);
	}
}

struct image *random_image(unsigned int *seed)
{
	struct image *image = calloc(1, sizeof(*image));
	unsigned int i;

	image->slots = calloc(SLOTS_MAX, sizeof(*image->slots));
	image->slot_count = below(seed, SLOTS_MAX);
	for (i = 0; i < image->slot_count; i++)
		fill_slot(&image->slots[i], seed);
	image->data = calloc(DATA_MAX, sizeof(*image->data));
	image->data_count = below(seed, DATA_MAX);
	for (i = 0; i < image->data_count; i++)
		fill_data(&image->data[i], seed, i);
	add_labels(image, seed);
	add_relocations(image, seed);
	return image;
}

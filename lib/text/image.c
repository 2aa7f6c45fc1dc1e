// SPDX-License-Identifier: MIT
/* An image: reading it and freeing it. */
#include <stdlib.h>
#include <string.h>

#include "image.h"

void image_free(struct image *image)
{
	size_t i;

	if (!image)
		return;
	for (i = 0; i < image->data_count; i++) {
		free(image->data[i].name);
		free(image->data[i].contents);
	}
	for (i = 0; i < image->label_count; i++)
		free(image->labels[i].name);
	free(image->slots);
	free(image->lines);
	free(image->data);
	free(image->labels);
	free(image->relocations);
	free(image);
}

unsigned long image_slot_count(const struct image *image)
{
	return image->slot_count;
}

const struct batch_slot *image_slot(const struct image *image, unsigned long slot)
{
	return &image->slots[slot];
}

unsigned int image_slot_line(const struct image *image, unsigned long slot)
{
	return image->lines[slot];
}

bool image_slot_is_goto(const struct image *image, unsigned long slot)
{
	return image->slots[slot].nr == NR_GOTO;
}

/* The number of the first label at SLOT or behind it. */
static size_t first_label(const struct image *image, unsigned long slot)
{
	size_t low = 0;
	size_t high = image->label_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->labels[middle].slot < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *image_slot_label(const struct image *image, unsigned long slot, unsigned long n)
{
	size_t i = first_label(image, slot) + n;

	if (i >= image->label_count || image->labels[i].slot != slot)
		return NULL;
	return image->labels[i].name;
}

unsigned long image_data_count(const struct image *image)
{
	return image->data_count;
}

struct data_view image_data(const struct image *image, unsigned long n)
{
	const struct data *data = &image->data[n];

	return (struct data_view){ data->name, data->kind, data->size };
}

void *image_word(const struct image *image, struct word_place place)
{
	if (place.holder == HOLDER_SLOT)
		return &image->slots[place.index].arg[place.word];
	return (uint64_t *)image->data[place.index].contents + place.word;
}

int word_place_compare(struct word_place a, struct word_place b)
{
	if (a.holder != b.holder)
		return a.holder < b.holder ? -1 : 1;
	if (a.index != b.index)
		return a.index < b.index ? -1 : 1;
	return (a.word > b.word) - (a.word < b.word);
}

static int compare_with_relocation(const void *key, const void *element)
{
	const struct word_place *place = key;
	const struct relocation *relocation = element;

	return word_place_compare(*place, relocation->place);
}

const struct relocation *image_relocation(const struct image *image, struct word_place place)
{
	if (!image->relocation_count)
		return NULL;
	return bsearch(&place, image->relocations, image->relocation_count,
		       sizeof(*image->relocations), compare_with_relocation);
}

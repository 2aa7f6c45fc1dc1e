// SPDX-License-Identifier: MIT
/* From an image to an object. */
#include <errno.h>
#include <seccomp.h>
#include <string.h>

#include "image.h"
#include "object.h"
#include "output.h"

static void encode_header(struct output *output, const struct image *image)
{
	output_bytes(output, OBJECT_MAGIC, OBJECT_MAGIC_SIZE);
	output_number(output, OBJECT_VERSION, 2);
	output_number(output, seccomp_arch_native(), 4);
	output_number(output, image->slot_count, 4);
	output_number(output, image->data_count, 4);
	output_number(output, image->label_count, 4);
	output_number(output, image->relocation_count, 4);
}

static void encode_slot(struct output *output, const struct ferry_slot *slot)
{
	size_t i;

	output_number(output, (uint64_t)slot->nr, 2);
	output_number(output, (uint64_t)slot->jump_fail, 2);
	output_number(output, (uint64_t)slot->jump_zero, 2);
	output_number(output, (uint64_t)slot->jump_pos, 2);
	output_number(output, slot->argc, 1);
	output_bytes(output, slot->from, sizeof(slot->from));
	output_number(output, slot->reserved, 1);
	for (i = 0; i < FERRY_MAX_ARGS; i++)
		output_number(output, (uint64_t)slot->arg[i], 8);
}

static void encode_name(struct output *output, const char *name)
{
	output_number(output, strlen(name), 1);
	output_text(output, name);
}

static void encode_data(struct output *output, const struct data *data)
{
	const uint64_t *words = data->contents;
	size_t i;

	output_number(output, data->kind, 1);
	encode_name(output, data->name);
	output_number(output, data->size, 8);
	if (data->kind != DATA_WORDS) {
		output_bytes(output, data->contents, data_stored_size(data));
		return;
	}
	for (i = 0; i < data->size / sizeof(*words); i++)
		output_number(output, words[i], 8);
}

static void encode_relocation(struct output *output, const struct relocation *relocation)
{
	output_number(output, relocation->place.holder, 1);
	output_number(output, relocation->base, 1);
	output_number(output, relocation->place.index, 4);
	output_number(output, relocation->place.word, 4);
	output_number(output, relocation->object, 4);
}

int image_encode(const struct image *image, void **bytes, size_t *length)
{
	struct output output = { 0 };
	char *object;
	size_t i;
	int error;

	encode_header(&output, image);
	for (i = 0; i < image->slot_count; i++)
		encode_slot(&output, &image->slots[i]);
	for (i = 0; i < image->data_count; i++)
		encode_data(&output, &image->data[i]);
	for (i = 0; i < image->label_count; i++) {
		output_number(&output, image->labels[i].slot, 4);
		encode_name(&output, image->labels[i].name);
	}
	for (i = 0; i < image->relocation_count; i++)
		encode_relocation(&output, &image->relocations[i]);
	error = output_finish(&output, &object, length);
	if (!error)
		*bytes = object;
	return error;
}

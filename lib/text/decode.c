// SPDX-License-Identifier: MIT
/* From an object to an image, trusting no byte of it. */
#include <errno.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "error.h"
#include "name_index.h"
#include "object.h"

struct reader {
	const unsigned char *next;
	size_t left;
	struct image *image;
	struct text_error *error;
};

static int fail_short(const struct reader *reader, const char *what)
{
	return text_fail(reader->error, NOWHERE, "the object ends within its %s", what);
}

/* SIZE bytes, little-endian, which the caller knows to be left. */
static uint64_t take_number(struct reader *reader, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)reader->next[i] << (8 * i);
	reader->next += size;
	reader->left -= size;
	return value;
}

static int decode_header(struct reader *reader, size_t counts[4])
{
	size_t i;

	if (reader->left < OBJECT_MAGIC_SIZE ||
	    memcmp(reader->next, OBJECT_MAGIC, OBJECT_MAGIC_SIZE) != 0)
		return text_fail(reader->error, NOWHERE, "not an object of ferry asm");
	if (reader->left < OBJECT_HEADER_SIZE)
		return fail_short(reader, "header");
	reader->next += OBJECT_MAGIC_SIZE;
	reader->left -= OBJECT_MAGIC_SIZE;
	if (take_number(reader, 2) != OBJECT_VERSION)
		return text_fail(reader->error, NOWHERE, "the object is not of version %d",
				 OBJECT_VERSION);
	if (take_number(reader, 4) != seccomp_arch_native())
		return text_fail(
			reader->error, NOWHERE,
			"the object is for another kind of machine; assemble its text here");
	for (i = 0; i < 4; i++)
		counts[i] = take_number(reader, 4);
	return 0;
}

/* Zeroed memory for COUNT elements of SIZE, each of which takes MINIMUM bytes of the object. */
static int allocate(const struct reader *reader, void *array, size_t count, size_t size,
		    size_t minimum, const char *what)
{
	void *memory;

	if (count > reader->left / minimum)
		return fail_short(reader, what);
	memory = calloc(count ? count : 1, size);
	memcpy(array, &memory, sizeof(memory));
	return memory ? 0 : -ENOMEM;
}

static int decode_slots(struct reader *reader, size_t count)
{
	struct image *image = reader->image;
	size_t i, k;
	int error;

	if (count > IMAGE_SLOTS_MAX)
		return text_fail(reader->error, NOWHERE, "%zu slots; %u is the most", count,
				 IMAGE_SLOTS_MAX);
	error = allocate(reader, &image->slots, count, sizeof(*image->slots), OBJECT_SLOT_SIZE,
			 "slots");
	if (error)
		return error;
	for (i = 0; i < count; i++) {
		struct ferry_slot *slot = &image->slots[i];

		slot->nr = (short)take_number(reader, 2);
		slot->jump_fail = (short)take_number(reader, 2);
		slot->jump_zero = (short)take_number(reader, 2);
		slot->jump_pos = (short)take_number(reader, 2);
		slot->argc = (unsigned char)take_number(reader, 1);
		for (k = 0; k < FERRY_MAX_ARGS; k++)
			slot->from[k] = (unsigned char)take_number(reader, 1);
		slot->reserved = (unsigned char)take_number(reader, 1);
		for (k = 0; k < FERRY_MAX_ARGS; k++)
			slot->arg[k] = (long)take_number(reader, 8);
	}
	image->slot_count = count;
	return 0;
}

static int decode_name(struct reader *reader, const char *reserved, char **name)
{
	size_t length;

	if (!reader->left)
		return fail_short(reader, "names");
	length = take_number(reader, 1);
	if (length > reader->left)
		return fail_short(reader, "names");
	if (!name_is_valid((const char *)reader->next, length) ||
	    (length == strlen(reserved) && !memcmp(reader->next, reserved, length)))
		return text_fail(reader->error, NOWHERE, "the object has a name that is none");
	*name = strndup((const char *)reader->next, length);
	reader->next += length;
	reader->left -= length;
	return *name ? 0 : -ENOMEM;
}

/* The contents of DATA, whose kind and size are known. */
static int decode_contents(struct reader *reader, struct data *data)
{
	size_t stored = data_stored_size(data);
	uint64_t *words;
	size_t i;

	if (stored > reader->left)
		return fail_short(reader, "data");
	/* One byte more, so that a string's NUL is there and no size is 0. */
	data->contents = calloc(1, stored + 1);
	if (!data->contents)
		return -ENOMEM;
	if (data->kind == DATA_WORDS) {
		words = data->contents;
		for (i = 0; i < stored / sizeof(*words); i++)
			words[i] = take_number(reader, sizeof(*words));
		return 0;
	}
	memcpy(data->contents, reader->next, stored);
	reader->next += stored;
	reader->left -= stored;
	return 0;
}

static int decode_data_object(struct reader *reader, struct data *data, uint64_t room)
{
	int error;

	if (reader->left < OBJECT_DATA_SIZE_MIN)
		return fail_short(reader, "data");
	data->kind = (enum data_kind)take_number(reader, 1);
	if (data->kind > DATA_WORDS)
		return text_fail(reader->error, NOWHERE, "the object has data of unknown kind %d",
				 (int)data->kind);
	error = decode_name(reader, "sizeof", &data->name);
	if (error)
		return error;
	if (reader->left < sizeof(data->size))
		return fail_short(reader, "data");
	data->size = take_number(reader, sizeof(data->size));
	if (data->size > room)
		return text_fail(reader->error, NOWHERE, "the data is larger than 1 GiB with %.50s",
				 data->name);
	if ((data->kind == DATA_STRING && !data->size) ||
	    (data->kind == DATA_WORDS && data->size % sizeof(uint64_t)))
		return text_fail(reader->error, NOWHERE, "%.50s has an impossible size",
				 data->name);
	return data->kind == DATA_BUFFER ? 0 : decode_contents(reader, data);
}

static int decode_data(struct reader *reader, size_t count)
{
	struct image *image = reader->image;
	uint64_t room = IMAGE_DATA_MAX;
	int error = allocate(reader, &image->data, count, sizeof(*image->data),
			     OBJECT_DATA_SIZE_MIN, "data");

	while (!error && image->data_count < count) {
		struct data *data = &image->data[image->data_count++];

		error = decode_data_object(reader, data, room);
		room -= error ? 0 : data->size;
	}
	return error;
}

static int decode_labels(struct reader *reader, size_t count)
{
	struct image *image = reader->image;
	uint32_t before = 0;
	int error = allocate(reader, &image->labels, count, sizeof(*image->labels),
			     OBJECT_LABEL_SIZE_MIN, "labels");

	while (!error && image->label_count < count) {
		struct label *label = &image->labels[image->label_count++];

		if (reader->left < sizeof(label->slot))
			return fail_short(reader, "labels");
		label->slot = (uint32_t)take_number(reader, sizeof(label->slot));
		if (label->slot < before || label->slot > image->slot_count)
			return text_fail(reader->error, NOWHERE,
					 "the object has a label out of order or of no slot");
		before = label->slot;
		error = decode_name(reader, LABEL_END, &label->name);
	}
	return error;
}

static bool place_exists(const struct image *image, struct word_place place)
{
	if (place.holder == HOLDER_SLOT)
		return place.index < image->slot_count && place.word < FERRY_MAX_ARGS;
	return place.holder == HOLDER_DATA && place.index < image->data_count &&
	       image->data[place.index].kind == DATA_WORDS &&
	       place.word < image->data[place.index].size / sizeof(uint64_t);
}

static bool base_exists(const struct image *image, const struct relocation *relocation)
{
	switch (relocation->base) {
	case BASE_DATA:
		return relocation->object < image->data_count;
	case BASE_RESULTS:
	case BASE_SLOTS:
		return image->slot_count && !relocation->object;
	default:
		return false;
	}
}

static int decode_relocations(struct reader *reader, size_t count)
{
	struct image *image = reader->image;
	int error = allocate(reader, &image->relocations, count, sizeof(*image->relocations),
			     OBJECT_RELOCATION_SIZE, "relocations");

	while (!error && image->relocation_count < count) {
		struct relocation *relocation = &image->relocations[image->relocation_count++];

		relocation->place.holder = (enum holder)take_number(reader, 1);
		relocation->base = (enum base)take_number(reader, 1);
		relocation->place.index = (uint32_t)take_number(reader, 4);
		relocation->place.word = (uint32_t)take_number(reader, 4);
		relocation->object = (uint32_t)take_number(reader, 4);
		if (!place_exists(image, relocation->place) || !base_exists(image, relocation))
			return text_fail(
				reader->error, NOWHERE,
				"relocation %zu is of a word or to a place that is not there",
				image->relocation_count - 1);
		if (relocation > image->relocations &&
		    word_place_compare(relocation[-1].place, relocation->place) >= 0)
			return text_fail(reader->error, NOWHERE, "relocation %zu is out of order",
					 image->relocation_count - 1);
	}
	return error;
}

static int check_names(const struct reader *reader)
{
	struct name_index labels = { 0 };
	struct name_index data = { 0 };
	uint32_t first, second;
	int error = name_index_labels(&labels, reader->image);

	error = error ? error : name_index_data(&data, reader->image);
	if (!error && (name_index_duplicate(&labels, &first, &second) ||
		       name_index_duplicate(&data, &first, &second)))
		error = text_fail(reader->error, NOWHERE, "the object has a name twice");
	name_index_free(&labels);
	name_index_free(&data);
	return error;
}

static int decode(struct reader *reader)
{
	size_t counts[4];
	int error = decode_header(reader, counts);

	error = error ? error : decode_slots(reader, counts[0]);
	error = error ? error : decode_data(reader, counts[1]);
	error = error ? error : decode_labels(reader, counts[2]);
	error = error ? error : decode_relocations(reader, counts[3]);
	error = error ? error : check_names(reader);
	if (!error && reader->left)
		return text_fail(reader->error, NOWHERE, "%zu bytes behind the object's end",
				 reader->left);
	return error;
}

int image_decode(const void *bytes, size_t length, struct image **out, struct text_error *error)
{
	struct reader reader = { bytes, length, calloc(1, sizeof(struct image)), error };
	int failed = reader.image ? decode(&reader) : -ENOMEM;

	if (failed)
		image_free(reader.image);
	else
		*out = reader.image;
	return failed;
}

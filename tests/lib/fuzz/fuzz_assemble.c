// SPDX-License-Identifier: MIT
/*
 * Fuzzes the text form: whatever is accepted, as a text or as an object, must
 * come back byte for byte from its object and from its disassembly, and must load.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/text.h"

#define LOADED_DATA_MAX (1UL << 20) /* larger data is not loaded: only time would be lost */

static void require(int holds)
{
	if (!holds)
		abort();
}

static void load(const struct image *image)
{
	struct loaded loaded;
	size_t size = 0;
	unsigned long i;

	for (i = 0; i < image_data_count(image); i++)
		size += image_data(image, i).size;
	if (size > LOADED_DATA_MAX)
		return;
	require(!image_load(image, &loaded));
	image_unload(&loaded);
}

/* Requires that IMAGE has the object of LENGTH bytes at EXPECTED. */
static void require_object(const struct image *image, const void *expected, size_t length)
{
	void *object;
	size_t object_length;

	require(!image_encode(image, &object, &object_length));
	require(object_length == length && !memcmp(object, expected, length));
	free(object);
}

static void check(const struct image *image, const void *object, size_t object_length)
{
	struct text_error error;
	struct image *again;
	size_t text_length;
	char *text;

	require(!image_decode(object, object_length, &again, &error));
	require_object(again, object, object_length);
	image_free(again);

	require(!image_disassemble(image, &text, &text_length));
	require(!image_assemble(text, text_length, &again, &error));
	free(text);
	require_object(again, object, object_length);
	image_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct text_error error = { .line = UINT32_MAX };
	struct image *image;
	size_t object_length;
	void *object;

	if (image_read(bytes, length, &image, &error)) {
		require(error.line != UINT32_MAX && error.message[0]);
		require(!error.line == !error.column);
		return 0;
	}
	/* An image has one object, so the one that was read is the one that is written. */
	if (length && bytes[0] == 0x7f)
		require_object(image, bytes, length);
	require(!image_encode(image, &object, &object_length));
	check(image, object, object_length);
	free(object);
	load(image);
	image_free(image);
	return 0;
}

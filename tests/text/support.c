// SPDX-License-Identifier: MIT
/* What the tests of the text form share. */
#include <stdio.h>

#include "support.h"

struct image *assemble(const char *text)
{
	struct text_error error;
	struct image *image;

	if (image_assemble(text, strlen(text), &image, &error))
		fail_msg("%u:%u: %s in\n%s", error.line, error.column, error.message, text);
	return image;
}

char *disassemble(const struct image *image)
{
	size_t length;
	char *text;

	assert_int_equal(image_disassemble(image, &text, &length), 0);
	assert_int_equal(strlen(text), length);
	return text;
}

static void assert_same_object(const struct image *image, const struct image *other)
{
	size_t length, other_length;
	void *object, *other_object;

	assert_int_equal(image_encode(image, &object, &length), 0);
	assert_int_equal(image_encode(other, &other_object, &other_length), 0);
	assert_int_equal(length, other_length);
	assert_memory_equal(object, other_object, length);
	free(object);
	free(other_object);
}

void assert_round_trip(const struct image *image)
{
	struct text_error error;
	struct image *again;
	size_t length;
	void *object;
	char *text;

	assert_int_equal(image_encode(image, &object, &length), 0);
	if (image_read(object, length, &again, &error))
		fail_msg("the object is refused: %s", error.message);
	assert_same_object(image, again);
	image_free(again);
	free(object);

	text = disassemble(image);
	again = assemble(text);
	assert_same_object(image, again);
	image_free(again);
	free(text);
}

char *read_source(const char *directory, const char *name)
{
	char path[4096];
	size_t length, room = 1 << 20;
	char *text = malloc(room);
	FILE *file;

	assert_non_null(text);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("cannot open %s", path);
	length = fread(text, 1, room - 1, file);
	assert_true(feof(file));
	fclose(file);
	text[length] = '\0';
	return text;
}

// SPDX-License-Identifier: MIT
/*
 * Fuzzes the text form: what is accepted must load and can be looked at, and what is refused
 * must come with mistakes in the order of their places.
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

static void look_at(const struct image *image)
{
	struct slot_warnings warnings;
	unsigned int line = 0;
	unsigned long i;
	size_t k;

	for (i = 0; i < image_slot_count(image); i++) {
		require(image_slot_line(image, i) >= line);
		line = image_slot_line(image, i);
		image_check_slot(image, i, &warnings);
		require(warnings.count <= SLOT_WARNINGS_MAX);
		for (k = 0; k < warnings.count; k++)
			require(warnings.reason[k][0]);
	}
	for (k = 0; image_slot_label(image, i, k); k++)
		require(image_slot_label(image, i, k)[0]);
}

static void require_sorted(const struct text_errors *errors)
{
	const struct text_error *list = errors->list;
	size_t i;

	require(errors->count > 0 && errors->count <= TEXT_ERRORS_MAX);
	for (i = 0; i < errors->count; i++) {
		require(list[i].line && list[i].column && list[i].message[0]);
		require(!i || list[i - 1].line < list[i].line ||
			(list[i - 1].line == list[i].line && list[i - 1].column < list[i].column));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct text_errors errors;
	struct image *image;

	if (image_assemble((const char *)bytes, length, &image, &errors)) {
		require_sorted(&errors);
		return 0;
	}
	require(!errors.count);
	look_at(image);
	load(image);
	image_free(image);
	return 0;
}

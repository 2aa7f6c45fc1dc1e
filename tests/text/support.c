// SPDX-License-Identifier: MIT
/* What the tests of the text form share. */
#include <stdio.h>

#include "support.h"

struct image *assemble(const char *text)
{
	struct text_errors errors;
	struct image *image;

	if (image_assemble(text, strlen(text), &image, &errors))
		fail_msg("%u:%u: %s in\n%s", errors.list[0].line, errors.list[0].column,
			 errors.list[0].message, text);
	return image;
}

void assert_no_warnings(const struct image *image)
{
	struct slot_warnings warnings;
	unsigned long i;

	for (i = 0; i < image_slot_count(image); i++) {
		image_check_slot(image, i, &warnings);
		if (warnings.count)
			fail_msg("line %u: %s", image_slot_line(image, i), warnings.reason[0]);
	}
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

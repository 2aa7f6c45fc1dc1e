// SPDX-License-Identifier: MIT
/* Reading a program, with a complaint that names the place of a mistake. */
#include "program_file.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

static const char *display_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

static void complain_about_text(const char *path, const struct text_error *error)
{
	if (error->line)
		complain("%s:%u:%u: %s", display_name(path), error->line, error->column,
			 error->message);
	else
		complain("%s: %s", display_name(path), error->message);
}

struct image *read_program(const char *path)
{
	struct text_error error = { 0 };
	struct image *image = NULL;
	size_t length;
	void *bytes;
	int result;

	if (read_file(path, &bytes, &length))
		return NULL;
	result = image_read(bytes, length, &image, &error);
	free(bytes);
	if (!result)
		return image;
	if (error.message[0])
		complain_about_text(path, &error);
	else
		complain("%s: %s", display_name(path), strerror(-result));
	return NULL;
}

struct image *load_program(const char *path, struct loaded *loaded)
{
	struct image *image = read_program(path);

	if (!image)
		return NULL;
	if (!image_load(image, loaded))
		return image;
	complain("%s: out of memory for the program's data", display_name(path));
	image_free(image);
	return NULL;
}

// SPDX-License-Identifier: MIT
/* Reading a program, with a complaint that names the place of each mistake. */
#include "program_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/messages.h"

static void complain_about_text(const char *path, const struct text_errors *errors)
{
	size_t i;

	for (i = 0; i < errors->count; i++)
		complain("%s:%u:%u: %s", display_name(path), errors->list[i].line,
			 errors->list[i].column, errors->list[i].message);
	if (errors->more)
		complain("%s: there are more mistakes; these are the first %zu found",
			 display_name(path), errors->count);
}

struct image *read_program(const char *path)
{
	struct text_errors errors;
	struct image *image = NULL;
	size_t length;
	void *bytes;
	int result;

	if (read_file(path, &bytes, &length))
		return NULL;
	result = image_assemble(bytes, length, &image, &errors);
	free(bytes);
	if (!result)
		return image;
	if (result == -EINVAL)
		complain_about_text(path, &errors);
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

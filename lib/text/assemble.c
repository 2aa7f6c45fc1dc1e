// SPDX-License-Identifier: MIT
/* From a text to an image. */
#include <errno.h>

#include "assembly.h"
#include "characters.h"
#include "object.h"
#include "parser.h"

int image_assemble(const char *text, size_t length, struct image **out, struct text_error *error)
{
	struct assembly assembly;
	int failed = assembly_start(&assembly, error);

	/* An empty text may have no address, from which nothing could be counted. */
	text = length ? text : "";
	failed = failed ? failed : text_check(text, length, error);
	failed = failed ? failed : parse_text(&assembly, text, length);
	failed = failed ? failed : assembly_resolve(&assembly);
	assembly_free(&assembly);
	if (failed)
		image_free(assembly.image);
	else
		*out = assembly.image;
	return failed;
}

int image_read(const void *bytes, size_t length, struct image **out, struct text_error *error)
{
	if (length && *(const char *)bytes == OBJECT_MAGIC[0])
		return image_decode(bytes, length, out, error);
	return image_assemble(bytes, length, out, error);
}

// SPDX-License-Identifier: MIT
/* Bytes written one after another into memory that grows. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

#define FIRST_ROOM 256

/* Room for LENGTH bytes more, or output->failed. */
static void make_room(struct output *output, size_t length)
{
	size_t room = output->room ? output->room : FIRST_ROOM;
	char *grown;

	if (output->failed || output->room - output->length >= length)
		return;
	while (room - output->length < length)
		room *= 2;
	grown = realloc(output->bytes, room);
	if (!grown) {
		output->failed = true;
		return;
	}
	output->bytes = grown;
	output->room = room;
}

void output_bytes(struct output *output, const void *bytes, size_t length)
{
	make_room(output, length);
	if (output->failed || !length)
		return;
	memcpy(output->bytes + output->length, bytes, length);
	output->length += length;
}

void output_text(struct output *output, const char *text)
{
	output_bytes(output, text, strlen(text));
}

void output_format(struct output *output, const char *format, ...)
{
	char text[101];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	output_text(output, text);
}

void output_number(struct output *output, uint64_t value, size_t size)
{
	unsigned char bytes[sizeof(value)];
	size_t i;

	for (i = 0; i < size; i++)
		bytes[i] = (unsigned char)(value >> (8 * i));
	output_bytes(output, bytes, size);
}

int output_finish(struct output *output, char **bytes, size_t *length)
{
	output_bytes(output, "", 1);
	if (output->failed) {
		free(output->bytes);
		return -ENOMEM;
	}
	*bytes = output->bytes;
	*length = output->length - 1;
	return 0;
}

// SPDX-License-Identifier: MIT
/* Whether bytes are a text: UTF-8 without control characters but tab and line ends. */
#include <stdint.h>

#include "characters.h"

#define DELETE 0x7f
#define SURROGATE_FIRST 0xd800
#define SURROGATE_LAST 0xdfff
#define CODE_POINT_LAST 0x10ffff

/* The length of the UTF-8 sequence at BYTES, which is not ASCII, or 0 when it is none. */
static size_t sequence_length(const unsigned char *bytes, size_t left)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
	uint32_t code;
	size_t i;

	if (bytes[0] < 0xc0 || bytes[0] >= 0xf8 || length > left)
		return 0;
	code = bytes[0] & (0x7fU >> length);
	for (i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < lowest[length] || code > CODE_POINT_LAST)
		return 0;
	return code >= SURROGATE_FIRST && code <= SURROGATE_LAST ? 0 : length;
}

/* The length of the character at BYTES, or 0 when it may not stand in a text. */
static size_t character_length(const unsigned char *bytes, size_t left)
{
	if (bytes[0] > DELETE)
		return sequence_length(bytes, left);
	if (bytes[0] == '\r')
		return left > 1 && bytes[1] == '\n';
	return bytes[0] == '\t' || bytes[0] == '\n' || (bytes[0] >= ' ' && bytes[0] != DELETE);
}

int text_check(const char *text, size_t length, struct text_error *error)
{
	const unsigned char *bytes = (const unsigned char *)text;
	struct place where = { 1, 1 };
	size_t i = 0;
	size_t step;

	while (i < length) {
		step = character_length(bytes + i, length - i);
		if (!step)
			return text_fail(error, where,
					 "byte 0x%02x is not text; write it as \\x%02x in a string",
					 bytes[i], bytes[i]);
		where.column++;
		if (bytes[i] == '\n')
			where = (struct place){ where.line + 1, 1 };
		i += step;
	}
	return 0;
}

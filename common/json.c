// SPDX-License-Identifier: MIT
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_numbers(const double values[], size_t count)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(list, json_number(values[i]));
	return list;
}

json_t *json_text(const char *string)
{
	json_t *text = json_string(string);
	char *ascii, *byte;

	if (text)
		return text;
	ascii = strdup(string);
	for (byte = ascii; byte && *byte; byte++)
		*byte = (char)(*byte & 0x80 ? '?' : *byte);
	text = ascii ? json_string(ascii) : NULL;
	free(ascii);
	return text;
}

json_t *json_hex_unless_text(const char *string)
{
	json_t *text = json_string(string);
	char *hex, *at;

	if (text) {
		json_decref(text);
		return NULL;
	}
	at = hex = allocate(2 * strlen(string) + 1, 1);
	for (; *string; string++)
		at += sprintf(at, "%02x", (unsigned char)*string);
	text = json_string(hex);
	free(hex);
	return text;
}

json_t *json_texts(const char *const strings[], size_t count)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(list, json_text(strings[i]));
	return list;
}

static json_t *json_step(const json_t *from, const char *key, size_t length)
{
	if (json_is_array(from))
		return json_array_get(from, strtoul(key, NULL, 10));
	return json_object_getn(from, key, length);
}

json_t *json_at(const json_t *from, const char *path)
{
	const char *dot;

	for (; (dot = strchr(path, '.')); path = dot + 1)
		from = json_step(from, path, (size_t)(dot - path));
	return json_step(from, path, strlen(path));
}

double json_number_at(const json_t *object, const char *path)
{
	const json_t *found = json_at(object, path);

	return json_is_number(found) ? json_number_value(found) : NAN;
}

const char *json_string_at(const json_t *object, const char *path, const char *none)
{
	const char *string = json_string_value(json_at(object, path));

	return string ? string : none;
}

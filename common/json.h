/* SPDX-License-Identifier: MIT */
/* Additions to jansson: unknown numbers, lists of numbers, paths. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>

#include <jansson.h>

/** VALUE, or null if it is not finite. */
json_t *json_number(double value);

json_t *json_numbers(const double values[], size_t count);

/** STRING; bytes that are not UTF-8, as in some file names, become question marks. */
json_t *json_text(const char *string);

/** The bytes of STRING in hexadecimal if they are not UTF-8, or NULL. */
json_t *json_hex_unless_text(const char *string);

json_t *json_texts(const char *const strings[], size_t count);

/** The value at PATH, keys and indexes with dots between them, or NULL. */
json_t *json_at(const json_t *from, const char *path);

/** The number at PATH, or NAN. */
double json_number_at(const json_t *object, const char *path);

/** The string at PATH, or NONE. */
const char *json_string_at(const json_t *object, const char *path, const char *none);

#endif /* JSON_H */

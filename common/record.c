// SPDX-License-Identifier: MIT
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

#define MOST_WORDS 16
#define LONGEST_WORD 200

static const void *member(const void *record, size_t offset)
{
	return (const char *)record + offset;
}

const void *record_at(const struct records *records, size_t index)
{
	return member(records->first, index * records->size);
}

/* ---- JSON ---- */

static json_t *integers_as_json(const struct numbers *numbers)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < numbers->count; i++)
		json_array_append_new(list, json_integer((json_int_t)numbers->of[i]));
	return list;
}

static json_t *matrix_as_json(const struct matrix *matrix)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < matrix->rows; i++)
		json_array_append_new(
			list, json_numbers(matrix->values + i * matrix->columns, matrix->columns));
	return list;
}

static json_t *words_as_json(char *const words[])
{
	json_t *list = json_array();
	char shown[LONGEST_WORD + 8];
	size_t i;

	for (i = 0; words[i] && i < MOST_WORDS; i++) {
		snprintf(shown, sizeof(shown), "%.*s%s", LONGEST_WORD, words[i],
			 strlen(words[i]) > LONGEST_WORD ? "..." : "");
		json_array_append_new(list, json_text(shown));
	}
	if (words[i])
		json_array_append_new(list, json_string("..."));
	return list;
}

static json_t *text_or_null(const char *text)
{
	return text ? json_text(text) : json_null();
}

static json_t *value_as_json(const struct field *field, const void *record)
{
	const void *value = member(record, field->offset);

	switch (field->type) {
	case F_TEXT:
		return text_or_null(*(const char *const *)value);
	case F_COUNT:
		return json_integer(*(const long *)value);
	case F_OPTIONAL:
		return *(const long *)value ? json_integer(*(const long *)value) : json_null();
	case F_INDEX:
		return *(const long *)value < 0 ? json_null() : json_integer(*(const long *)value);
	case F_YES_NO:
		return json_boolean(*(const bool *)value);
	case F_MAYBE:
		return (unsigned int)*(const int *)value > 1 ? json_null() :
							       json_boolean(*(const int *)value);
	case F_NUMBERS:
		return json_numbers(((const struct numbers *)value)->of,
				    ((const struct numbers *)value)->count);
	case F_INTEGERS:
		return integers_as_json(value);
	case F_MATRIX:
		return matrix_as_json(value);
	case F_WORD_LISTS:
		return json_pack("[o, o]", words_as_json(((char *const *const *)value)[0]),
				 words_as_json(((char *const *const *)value)[1]));
	case F_AVAILABLE:
		return json_boolean(!missing_of(record));
	case F_REASON:
		return text_or_null(missing_of(record));
	case F_OBJECT:
		return *(const bool *)value ? json_object() : json_null();
	default:
		return json_number(*(const double *)value);
	}
}

/* Puts VALUE at KEY, within the object before the dot if there is one; none in a null. */
static void put(json_t *json, const char *key, json_t *value)
{
	const char *dot = strchr(key, '.');
	json_t *object = json;

	if (dot) {
		object = json_object_getn(json, key, (size_t)(dot - key));
		if (!object) {
			object = json_object();
			json_object_setn_new(json, key, (size_t)(dot - key), object);
		}
	}
	if (json_is_object(object))
		json_object_set_new(object, dot ? dot + 1 : key, value);
	else
		json_decref(value);
}

json_t *record_as_json(const struct records *records, const void *record)
{
	json_t *json = json_object();
	size_t i;

	for (i = 0; i < records->field_count; i++) {
		const struct field *field = &records->fields[i];

		if (!(field->flags & CSV_ONLY) && (!missing_of(record) || field->flags & ALWAYS))
			put(json, field->key, value_as_json(field, record));
	}
	return json;
}

json_t *records_as_json(const struct records *records)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < records->count; i++)
		json_array_append_new(list, record_as_json(records, record_at(records, i)));
	return list;
}

/* ---- CSV ---- */

static void write_quoted(FILE *file, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, file);
		return;
	}
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

static void write_value(FILE *file, const json_t *value)
{
	if (json_is_string(value))
		write_quoted(file, json_string_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "true" : "false", file);
	else if (json_is_number(value))
		fprintf(file, "%.10g", json_number_value(value));
}

static void write_headings(FILE *file, const struct records *records)
{
	const char *comma = "";
	size_t i;

	for (i = 0; i < records->field_count; i++) {
		if (!(records->fields[i].flags & CSV))
			continue;
		fprintf(file, "%s%s", comma, records->fields[i].key);
		comma = ",";
	}
	fputc('\n', file);
}

static void write_line(FILE *file, const struct records *records, const void *record)
{
	json_t *json = record_as_json(records, record);
	const char *comma = "";
	size_t i;

	for (i = 0; i < records->field_count; i++) {
		if (!(records->fields[i].flags & CSV))
			continue;
		fputs(comma, file);
		comma = ",";
		write_value(file, json_at(json, records->fields[i].key));
	}
	fputc('\n', file);
	json_decref(json);
}

char *records_as_csv(const struct records *records, size_t *length)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, length);
	size_t i;

	if (!file)
		return NULL;
	write_headings(file, records);
	for (i = 0; i < records->count; i++)
		write_line(file, records, record_at(records, i));
	if (!fclose(file))
		return text;
	free(text);
	return NULL;
}

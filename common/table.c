// SPDX-License-Identifier: MIT
#include "table.h"

#include <math.h>

#include "json.h"
#include "memory.h"

/* ---- cells ---- */

/* Four digits are enough for people, and keep tables narrow. */
static int decimals_for(const struct column *column, double number)
{
	int most = fabs(number) >= 999.5 ? 0 : fabs(number) >= 99.95 ? 1 : column->decimals;

	return most < column->decimals ? most : column->decimals;
}

static const char *number_as_text(const struct column *column, double number)
{
	int decimals;

	if (column->type == F_MILLISECONDS)
		number /= 1e6;
	if (column->type == F_MEBIBYTES)
		number /= 1 << 20;
	decimals = decimals_for(column, number);
	if (!isfinite(number))
		return "-";
	if (column->type == F_PERCENT)
		return keep_text("%.*f %%", decimals, 100 * number);
	return keep_text("%.*f", decimals, number);
}

/* "-" for what is not known. */
static const char *value_as_text(const struct column *column, const void *record)
{
	const void *value = (const char *)record + column->offset;
	const char *text;
	long count;

	switch (column->type) {
	case F_TEXT:
		text = *(const char *const *)value;
		return text ? text : "-";
	case F_COUNT:
		return keep_text("%ld", *(const long *)value);
	case F_OPTIONAL:
		count = *(const long *)value;
		return number_as_text(column, count ? (double)count : NAN);
	case F_YES_NO:
		return *(const bool *)value ? "yes" : "no";
	case F_MAYBE:
		return *(const int *)value == 1 ? "yes" : *(const int *)value ? "-" : "no";
	default:
		return number_as_text(column, *(const double *)value);
	}
}

const char *table_cell(const struct table *table, size_t row, size_t column)
{
	return table->cells[row * table->column_count + column];
}

/* ---- rows ---- */

static void add_row(struct table *table, const void *record)
{
	const size_t count = table->column_count;
	const char **cells;
	size_t k;

	table->cells = keep_more(table->cells, table->row_count, count * sizeof(*table->cells));
	cells = &table->cells[table->row_count++ * count];
	for (k = 0; k < count; k++)
		cells[k] = value_as_text(&table->columns[k], record);
}

static void add_missing(struct table *table, const void *record)
{
	const char *name = value_as_text(&table->columns[0], record);
	size_t k;

	for (k = 1; k < table->column_count && table->columns[k].type == F_TEXT; k++)
		name = keep_text("%s, %s", name, value_as_text(&table->columns[k], record));
	table->missing = keep_more(table->missing, table->missing_count, sizeof(*table->missing));
	table->missing[table->missing_count++] = keep_text("%s: %s.", name, missing_of(record));
}

void table_add(struct table *table, const void *record)
{
	if (missing_of(record))
		add_missing(table, record);
	else
		add_row(table, record);
}

void table_add_all(struct table *table, const struct records *records)
{
	size_t i;

	for (i = 0; i < records->count; i++)
		table_add(table, record_at(records, i));
}

bool table_is_empty(const struct table *table)
{
	return !table->row_count && !table->missing_count;
}

/* ---- JSON ---- */

static json_t *columns_as_json(const struct table *table)
{
	json_t *list = json_array();
	size_t k;

	for (k = 0; k < table->column_count; k++)
		json_array_append_new(list,
				      json_pack("{s:s, s:b}", "heading", table->columns[k].heading,
						"text", table->columns[k].type == F_TEXT));
	return list;
}

static json_t *rows_as_json(const struct table *table)
{
	const size_t count = table->column_count;
	json_t *list = json_array();
	size_t row;

	for (row = 0; row < table->row_count; row++)
		json_array_append_new(list, json_texts(&table->cells[row * count], count));
	return list;
}

json_t *table_as_json(const struct table *table)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:s?}", "title", json_text(table->title), "columns",
			 columns_as_json(table), "rows", rows_as_json(table), "missing",
			 json_texts(table->missing, table->missing_count), "note", table->note);
}

// SPDX-License-Identifier: MIT
#include "table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "json.h"

#define CELL 256
#define LINE 96

static bool is_missing(const json_t *row)
{
	return json_is_false(json_object_get(row, "available"));
}

/* What the cell shows to people. */
static void show_cell(const struct json_column *column, const json_t *row, char cell[CELL])
{
	const json_t *value = json_at(row, column->path);

	if (json_is_string(value))
		snprintf(cell, CELL, "%s", json_string_value(value));
	else if (json_is_boolean(value))
		snprintf(cell, CELL, "%s", json_is_true(value) ? "yes" : "no");
	else if (!json_is_number(value))
		snprintf(cell, CELL, "-");
	else if (column->format == PERCENT)
		snprintf(cell, CELL, "%.0f %%", 100 * json_number_value(value));
	else if (column->format == MILLISECONDS)
		snprintf(cell, CELL, "%.*f", column->decimals, json_number_value(value) / 1e6);
	else if (column->format == MEBIBYTES)
		snprintf(cell, CELL, "%.*f", column->decimals,
			 json_number_value(value) / (1 << 20));
	else
		snprintf(cell, CELL, "%.*f", column->decimals, json_number_value(value));
}

/* Characters, not bytes, of UTF-8. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

static int column_width(const struct json_column *column, const json_t *rows, bool first)
{
	int widest = width_of(column->heading);
	const json_t *row;
	char cell[CELL];
	size_t i;

	json_array_foreach(rows, i, row) {
		if (is_missing(row) && !first)
			continue;
		show_cell(column, row, cell);
		widest = width_of(cell) > widest ? width_of(cell) : widest;
	}
	return widest;
}

/* Texts stand at the left of their columns, numbers at the right. */
static void print_cell(const struct json_column *column, const char *cell, int width, bool last)
{
	int blanks = width - width_of(cell);

	if (column->format == TEXT)
		printf("%s%*s", cell, last ? 0 : blanks, "");
	else
		printf("%*s%s", blanks, "", cell);
	fputs(last ? "\n" : "  ", stdout);
}

static void print_row(const struct table *table, const json_t *row, const int widths[])
{
	char cell[CELL];
	size_t k;

	for (k = 0; k < table->column_count; k++) {
		if (k && is_missing(row)) {
			printf("%s\n", json_string_at(row, "reason", "not here"));
			return;
		}
		show_cell(&table->columns[k], row, cell);
		print_cell(&table->columns[k], cell, widths[k], k == table->column_count - 1);
	}
}

void print_table(const struct table *table, const json_t *rows)
{
	int *widths = calloc(table->column_count, sizeof(*widths));
	const json_t *row;
	size_t i, k;

	if (!widths)
		return;
	for (k = 0; k < table->column_count; k++)
		widths[k] = column_width(&table->columns[k], rows, !k);
	for (k = 0; k < table->column_count; k++)
		print_cell(&table->columns[k], table->columns[k].heading, widths[k],
			   k == table->column_count - 1);
	json_array_foreach(rows, i, row)
		print_row(table, row, widths);
	free(widths);
}

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

static void write_csv(FILE *file, const struct table *table, const json_t *rows)
{
	const json_t *row;
	size_t i, k;

	for (k = 0; k < table->column_count; k++)
		fprintf(file, "%s%s", k ? "," : "", table->columns[k].path);
	fputc('\n', file);
	json_array_foreach(rows, i, row) {
		for (k = 0; k < table->column_count; k++) {
			if (k)
				fputc(',', file);
			write_value(file, json_at(row, table->columns[k].path));
		}
		fputc('\n', file);
	}
}

char *csv_of(const struct table *table, const json_t *rows, size_t *length)
{
	char *text = NULL;
	FILE *file = open_memstream(&text, length);

	if (!file)
		return NULL;
	write_csv(file, table, rows);
	if (!fclose(file))
		return text;
	free(text);
	return NULL;
}

void print_heading(const char *format, ...)
{
	va_list args;

	if (in_colour())
		fputs("\033[1m", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	puts(in_colour() ? "\033[0m" : "");
}

void print_paragraph(const char *first, const char *text)
{
	const int indent = (int)strlen(first);
	int column = indent;

	fputs(first, stdout);
	for (;;) {
		const char *word = text + strspn(text, " ");
		size_t length = strcspn(word, " ");

		if (!length)
			break;
		if (column > indent && column + 1 + (int)length > LINE) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		column += printf("%s%.*s", column > indent ? " " : "", (int)length, word);
		text = word + length;
	}
	putchar('\n');
}

// SPDX-License-Identifier: MIT
#include "show.h"

#include <libsmartcols.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "memory.h"
#include "messages.h"
#include "output.h"

#define CELL 1024
#define TEXT_WIDTH 80 /* of paragraphs where no width is known */
#define LEAST_WIDTH 20
#define LEAST_TEXT 10 /* of a column of texts */

/* The columns of the terminal: $COLUMNS, or what the terminal reports, or OTHERWISE. */
static int terminal_width(int otherwise)
{
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;
	struct winsize size;

	if (width >= LEAST_WIDTH && width <= CELL)
		return (int)width;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= LEAST_WIDTH)
		return size.ws_col;
	return otherwise;
}

static void no_memory(void)
{
	complain("bench: out of memory");
	exit(EXIT_USAGE);
}

/* Texts are wrapped to make room; a number that is cut would be another one. */
static struct libscols_table *new_table(const struct column columns[], size_t count)
{
	struct libscols_table *table = scols_new_table();
	size_t k;

	if (!table)
		no_memory();
	scols_table_set_column_separator(table, "  ");
	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	for (k = 0; k < count; k++) {
		struct libscols_column *column = scols_table_new_column(
			table, columns[k].heading, 0,
			columns[k].type == F_TEXT ? SCOLS_FL_WRAP : SCOLS_FL_RIGHT);

		if (!column)
			no_memory();
		if (columns[k].type != F_TEXT)
			continue;
		scols_column_set_safechars(column, "\n");
		scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
					  NULL);
	}
	return table;
}

static size_t widest_cell(const struct column *column, const void *const records[], size_t count)
{
	size_t widest = strlen(column->heading), length, i;
	char cell[CELL];

	for (i = 0; i < count; i++) {
		if (missing_of(records[i]))
			continue;
		show_value(column, records[i], cell, sizeof(cell));
		length = strlen(cell);
		widest = length > widest ? length : widest;
	}
	return widest;
}

/*
 * Takes what is too wide for the terminal from the widest text, again and again.  In a pipe or
 * a file each record stays one line, for grep and awk.
 */
static void fit_widths(const struct column columns[], size_t widths[], size_t count)
{
	const int width = terminal_width(INT_MAX);
	size_t total = 2 * (count - 1), widest, k;

	for (k = 0; k < count; k++)
		total += widths[k];
	for (; total > (size_t)width; total--) {
		widest = count;
		for (k = 0; k < count; k++)
			if (columns[k].type == F_TEXT && widths[k] > LEAST_TEXT &&
			    (widest == count || widths[k] > widths[widest]))
				widest = k;
		if (widest == count)
			return;
		widths[widest]--;
	}
}

/* Puts newlines in place of blanks, so that no line is longer than WIDTH where words allow. */
static void wrap(char *text, size_t width)
{
	char *line = text, *blank = NULL, *at;

	for (at = text; *at; at++) {
		if ((size_t)(at - line) >= width && blank) {
			*blank = '\n';
			line = blank + 1;
			blank = NULL;
		}
		if (*at == ' ')
			blank = at;
	}
	if ((size_t)(at - line) > width && blank)
		*blank = '\n';
}

static void add_line(struct libscols_table *table, const struct column columns[],
		     const size_t widths[], size_t count, const void *record)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	char cell[CELL];
	size_t k;

	if (!line)
		no_memory();
	for (k = 0; k < count; k++) {
		show_value(&columns[k], record, cell, sizeof(cell));
		if (columns[k].type == F_TEXT)
			wrap(cell, widths[k]);
		if (scols_line_set_data(line, k, cell))
			no_memory();
	}
}

/* libsmartcols fills the last column up to the width. */
static void print_without_ends(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		size_t length = strlen(line);

		while (length && line[length - 1] == ' ')
			length--;
		if (text || length)
			printf("%.*s\n", (int)length, line);
	}
}

void show_table(const struct column columns[], size_t column_count, const void *const records[],
		size_t count)
{
	size_t *widths = allocate(column_count, sizeof(*widths));
	struct libscols_table *table;
	char first[CELL], reason[2 * CELL], *text = NULL;
	size_t i;

	for (i = 0; i < column_count; i++)
		widths[i] = widest_cell(&columns[i], records, count);
	fit_widths(columns, widths, column_count);
	scols_init_debug(0);
	table = new_table(columns, column_count);
	for (i = 0; i < count; i++)
		if (!missing_of(records[i]))
			add_line(table, columns, widths, column_count, records[i]);
	if (!scols_table_is_empty(table) && !scols_print_table_to_string(table, &text))
		print_without_ends(text);
	free(text);
	free(widths);
	scols_unref_table(table);
	for (i = 0; i < count; i++) {
		if (!missing_of(records[i]))
			continue;
		show_value(&columns[0], records[i], first, sizeof(first));
		snprintf(reason, sizeof(reason), "%s: %s", first, missing_of(records[i]));
		show_paragraph("", reason);
	}
}

void show_records(const struct column columns[], size_t column_count, const struct records *records)
{
	const void **all = allocate(records->count, sizeof(*all));
	size_t i;

	for (i = 0; i < records->count; i++)
		all[i] = record_at(records, i);
	show_table(columns, column_count, all, records->count);
	free(all);
}

int in_colour(void)
{
	const char *no = getenv("NO_COLOR");

	return is_terminal(STDOUT_FILENO) && !(no && *no);
}

void show_heading(const char *format, ...)
{
	char heading[2 * CELL];
	va_list args;

	va_start(args, format);
	vsnprintf(heading, sizeof(heading), format, args);
	va_end(args);
	fputs(in_colour() ? "\033[1m" : "", stdout);
	show_paragraph("", heading);
	fputs(in_colour() ? "\033[0m" : "", stdout);
}

void show_entry(const char *first, int indent, const char *text)
{
	const int width = terminal_width(TEXT_WIDTH);
	int column = indent;

	printf("%-*s", indent, first);
	for (;;) {
		const char *word = text + strspn(text, " ");
		size_t length = strcspn(word, " ");

		if (!length)
			break;
		if (column > indent && column + 1 + (int)length > width) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		column += printf("%s%.*s", column > indent ? " " : "", (int)length, word);
		text = word + length;
	}
	putchar('\n');
}

void show_paragraph(const char *first, const char *text)
{
	show_entry(first, (int)strlen(first), text);
}

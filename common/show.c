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

/* Whether there is room for the column on a terminal. */
static bool is_printed(const struct column *column)
{
	return !(column->flags & PAGE_ONLY);
}

/* Texts are wrapped to make room; a number that is cut would be another one. */
static void add_column(struct libscols_table *table, const struct column *column)
{
	int flags = column->type == F_TEXT ? SCOLS_FL_WRAP : SCOLS_FL_RIGHT;
	struct libscols_column *added = scols_table_new_column(
		table, column->heading, 0, is_printed(column) ? flags : SCOLS_FL_HIDDEN);

	if (!added)
		no_memory();
	if (column->type != F_TEXT)
		return;
	scols_column_set_safechars(added, "\n");
	scols_column_set_wrapfunc(added, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
}

static struct libscols_table *new_table(const struct table *table)
{
	struct libscols_table *made = scols_new_table();
	size_t k;

	if (!made)
		no_memory();
	scols_table_set_column_separator(made, "  ");
	scols_table_set_termforce(made, SCOLS_TERMFORCE_NEVER);
	for (k = 0; k < table->column_count; k++)
		add_column(made, &table->columns[k]);
	return made;
}

static size_t widest_cell(const struct table *table, size_t column)
{
	size_t widest = strlen(table->columns[column].heading), length, row;

	for (row = 0; row < table->row_count; row++) {
		length = strlen(table_cell(table, row, column));
		widest = length > widest ? length : widest;
	}
	return widest;
}

/* The widest column of texts that can be narrower, or COUNT. */
static size_t widest_text(const struct column columns[], const size_t widths[], size_t count)
{
	size_t widest = count, k;

	for (k = 0; k < count; k++)
		if (columns[k].type == F_TEXT && widths[k] > LEAST_TEXT &&
		    (widest == count || widths[k] > widths[widest]))
			widest = k;
	return widest;
}

/*
 * Takes what is too wide for the terminal from the widest text, again and again.  In a pipe or
 * a file each record stays one line, for grep and awk.
 */
static void fit_widths(const struct table *table, size_t widths[])
{
	const size_t count = table->column_count, width = (size_t)terminal_width(INT_MAX);
	size_t total = 0, widest, k;

	for (k = 0; k < count; k++) {
		if (!is_printed(&table->columns[k]))
			continue;
		widths[k] = widest_cell(table, k);
		total += widths[k] + (total ? 2 : 0);
	}
	for (; total > width; total--) {
		widest = widest_text(table->columns, widths, count);
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

static void add_line(struct libscols_table *made, const struct table *table, size_t row,
		     const size_t widths[])
{
	struct libscols_line *line = scols_table_new_line(made, NULL);
	char *cell;
	size_t k;

	if (!line)
		no_memory();
	for (k = 0; k < table->column_count; k++) {
		cell = strdup(table_cell(table, row, k));
		if (!cell)
			no_memory();
		if (table->columns[k].type == F_TEXT)
			wrap(cell, widths[k]);
		if (scols_line_refer_data(line, k, cell))
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

static void show_rows(const struct table *table)
{
	size_t *widths = allocate(table->column_count, sizeof(*widths)), row;
	struct libscols_table *made;
	char *text = NULL;

	fit_widths(table, widths);
	scols_init_debug(0);
	made = new_table(table);
	for (row = 0; row < table->row_count; row++)
		add_line(made, table, row, widths);
	if (!scols_table_is_empty(made) && !scols_print_table_to_string(made, &text))
		print_without_ends(text);
	free(text);
	free(widths);
	scols_unref_table(made);
}

/* Those of its records that are missing follow below it, each with its reason. */
static void show_table(const struct table *table)
{
	size_t i;

	if (table->title)
		show_heading("%s", table->title);
	show_rows(table);
	for (i = 0; i < table->missing_count; i++)
		show_paragraph("", table->missing[i]);
}

void show_tables(struct table *const tables[], size_t count)
{
	const char *note = NULL, *before = "";
	size_t i;

	for (i = 0; i < count; i++) {
		if (tables[i]->page_only || table_is_empty(tables[i]))
			continue;
		if (note && note != tables[i]->note)
			show_paragraph("", note);
		fputs(before, stdout);
		show_table(tables[i]);
		note = tables[i]->note;
		before = "\n";
	}
	if (note)
		show_paragraph("", note);
}

void show_records(const struct column columns[], size_t column_count, const struct records *records)
{
	struct table table = { .columns = columns, .column_count = column_count };

	table_add_all(&table, records);
	show_table(&table);
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

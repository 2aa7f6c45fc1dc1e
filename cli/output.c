// SPDX-License-Identifier: MIT
/* What goes to standard output: tables and JSON. */
#include "output.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/harness/show.h"
#include "messages.h"

static void require_memory(bool succeeded)
{
	if (succeeded)
		return;
	complain("out of memory");
	exit(EXIT_USAGE);
}

bool is_terminal(int descriptor)
{
	const char *kind = getenv("TERM");

	return isatty(descriptor) && !(kind && !strcmp(kind, "dumb"));
}

/* ---- tables ---- */

#define SEPARATOR "  "
#define LAST_COLUMN_MIN 20 /* however narrow the terminal is */

struct libscols_table *open_table(const struct column_format columns[], size_t count)
{
	struct libscols_table *table = scols_new_table();
	size_t i;

	require_memory(table && !scols_table_set_column_separator(table, SEPARATOR));
	/* The width is kept below: the library would break lines within words. */
	scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
	for (i = 0; i < count; i++) {
		int flags = (columns[i].is_number ? SCOLS_FL_RIGHT : 0) |
			    (i + 1 == count ? SCOLS_FL_WRAP : 0);
		struct libscols_column *column =
			scols_table_new_column(table, columns[i].heading, 0, flags);

		require_memory(column);
		if (i + 1 < count)
			continue;
		scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk,
					  NULL);
		require_memory(!scols_column_set_safechars(column, "\n"));
	}
	return table;
}

void add_row(struct libscols_table *table, const char *const cells[])
{
	struct libscols_line *line = scols_table_new_line(table, NULL);
	size_t i;

	require_memory(line);
	for (i = 0; i < scols_table_get_ncols(table); i++)
		require_memory(!scols_line_set_data(line, i, cells[i]));
}

static const char *text_of(struct libscols_line *line, size_t column)
{
	return scols_cell_get_data(scols_line_get_cell(line, column));
}

/* The columns that all columns but the last take, with their separators. */
static size_t width_before_last(struct libscols_table *table, struct libscols_iter *iter)
{
	size_t width = 0;
	size_t column;

	for (column = 0; column + 1 < scols_table_get_ncols(table); column++) {
		struct libscols_column *of = scols_table_get_column(table, column);
		size_t widest = strlen(scols_cell_get_data(scols_column_get_header(of)));
		struct libscols_line *line;

		scols_reset_iter(iter, SCOLS_ITER_FORWARD);
		while (!scols_table_next_line(table, iter, &line)) {
			size_t length = strlen(text_of(line, column));

			widest = length > widest ? length : widest;
		}
		width += widest + strlen(SEPARATOR);
	}
	return width;
}

/* Turns blanks of TEXT into line ends where a line would be longer than WIDTH. */
static void break_lines(char *text, size_t width)
{
	char *start = text;
	char *blank = NULL;

	for (; *text; text++) {
		if (*text == ' ')
			blank = text;
		if ((size_t)(text - start) < width || !blank)
			continue;
		*blank = '\n';
		start = blank + 1;
		blank = NULL;
	}
}

static void wrap_last_column(struct libscols_table *table)
{
	struct libscols_iter *iter = scols_new_iter(SCOLS_ITER_FORWARD);
	size_t last = scols_table_get_ncols(table) - 1;
	size_t width = (size_t)terminal_width();
	struct libscols_line *line;
	size_t before, room;

	require_memory(iter);
	before = width_before_last(table, iter);
	room = width > before + LAST_COLUMN_MIN ? width - before : LAST_COLUMN_MIN;
	scols_reset_iter(iter, SCOLS_ITER_FORWARD);
	while (!scols_table_next_line(table, iter, &line)) {
		char *text;

		if (strlen(text_of(line, last)) <= room)
			continue;
		text = strdup(text_of(line, last));
		require_memory(text);
		break_lines(text, room);
		require_memory(!scols_line_refer_data(line, last, text)); /* which frees it */
	}
	scols_free_iter(iter);
}

void print_and_free_table(struct libscols_table *table)
{
	wrap_last_column(table);
	require_memory(!scols_print_table(table));
	scols_unref_table(table);
}

/* ---- JSON ---- */

void print_json(json_t *json)
{
	require_memory(json);
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

int finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	complain("standard output: %s", strerror(errno));
	return -errno;
}

/* SPDX-License-Identifier: MIT */
/* What goes to standard output: tables and JSON. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/** Whether DESCRIPTOR is a terminal that can move its cursor. */
bool is_terminal(int descriptor);

struct column_format {
	const char *heading;
	bool is_number;
};

struct libscols_table;

/** An empty table, for print_and_free_table().  Ends the program when out of memory. */
struct libscols_table *open_table(const struct column_format columns[], size_t count);

/** Adds a row with one cell for each column, which is copied. */
void add_row(struct libscols_table *table, const char *const cells[]);

/** Prints TABLE, with the words of its last column wrapped to fit the terminal. */
void print_and_free_table(struct libscols_table *table);

/** Prints JSON on standard output, indented, with a newline at the end, and frees it. */
void print_json(json_t *json);

/** Flushes standard output; complains and returns -errno when something was lost. */
int finish_output(void);

#endif /* OUTPUT_H */

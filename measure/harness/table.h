/* SPDX-License-Identifier: MIT */
/* Rows of JSON objects as a table for people, or as CSV. */
#ifndef TABLE_H
#define TABLE_H

#include <stdio.h>

#include <jansson.h>

enum format {
	TEXT,
	NUMBER,
	MILLISECONDS, /* in JSON and CSV nanoseconds */
	MEBIBYTES,    /* in JSON and CSV bytes */
	PERCENT,      /* in JSON and CSV 0 to 1, for people 0 to 100 */
	YES_NO,
};

struct json_column {
	const char *heading;
	const char *path; /* of json_at(), within a row; the heading of CSV */
	enum format format;
	int decimals; /* of a number for people */
};

struct table {
	const struct json_column *columns;
	size_t column_count;
};

/**
 * Prints ROWS, an array, on standard output.  What is null or not there is a dash.  A row
 * that is not available gives its reason in place of all columns but the first.
 */
void print_table(const struct table *table, const json_t *rows);

/** ROWS as CSV (RFC 4180, but with newlines alone), to free(); *LENGTH bytes. */
char *csv_of(const struct table *table, const json_t *rows, size_t *length);

int in_colour(void);

/** A heading, bold on a terminal. */
void print_heading(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** TEXT in lines of at most 96 columns, after FIRST; the other lines are indented as much. */
void print_paragraph(const char *first, const char *text);

#endif /* TABLE_H */

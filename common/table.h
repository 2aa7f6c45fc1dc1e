/* SPDX-License-Identifier: MIT */
/*
 * Tables for people: made of records once, then printed, and written as JSON for the page of
 * `ferry report`.  An array of columns says what a row has:
 *
 *	static const struct column columns[] = {
 *		{ "CALL", F_TEXT, offsetof(struct row, name), 0 },
 *		{ "MEDIAN", F_NUMBER, offsetof(struct row, median), 1 },
 *		{ "+-", F_NUMBER, offsetof(struct row, se), 1, PAGE_ONLY },
 *	};
 */
#ifndef TABLE_H
#define TABLE_H

#include "record.h"

enum {
	PAGE_ONLY = 1, /* not printed: a terminal has no room for it */
};

struct column {
	const char *heading;
	enum type type;
	unsigned int offset;
	int decimals;
	int flags;
};

struct table {
	const char *title; /* or NULL */
	const char *note;  /* what the columns are, or NULL */
	const struct column *columns;
	size_t column_count;
	bool page_only; /* not printed */

	const char **cells; /* the texts of all rows, row after row */
	size_t row_count;
	const char **missing; /* a sentence for each record that was not measured */
	size_t missing_count;
};

/**
 * Adds a row for RECORD, or the reason why that is missing, after what its first texts say.  The
 * texts of the record must stay allocated.
 */
void table_add(struct table *table, const void *record);

void table_add_all(struct table *table, const struct records *records);

/** Whether it has neither rows nor reasons. */
bool table_is_empty(const struct table *table);

const char *table_cell(const struct table *table, size_t row, size_t column);

json_t *table_as_json(const struct table *table);

#endif /* TABLE_H */

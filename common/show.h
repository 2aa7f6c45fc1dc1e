/* SPDX-License-Identifier: MIT */
/*
 * Standard output for people: tables, headings and paragraphs as wide as the terminal, or 80
 * columns where there is none.
 */
#ifndef SHOW_H
#define SHOW_H

#include "table.h"

/**
 * Prints the tables that are not for the page only.  A note that several share follows the last of
 * them.
 */
void show_tables(struct table *const tables[], size_t count);

/** A table of RECORDS, without a title. */
void show_records(const struct column columns[], size_t column_count,
		  const struct records *records);

/** Whether standard output is a terminal that may be given colours (and NO_COLOR is not set). */
int in_colour(void);

/** A heading, bold on a terminal, in as many lines as it takes. */
void show_heading(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** TEXT in lines as wide as the terminal, after FIRST; the other lines are indented as much. */
void show_paragraph(const char *first, const char *text);

/** An entry of a list: FIRST, and TEXT beside it from column INDENT on. */
void show_entry(const char *first, int indent, const char *text);

#endif /* SHOW_H */

/* SPDX-License-Identifier: MIT */
/*
 * Results as C structures, and how they become JSON and CSV; table.h makes tables of them.
 *
 * A record is a structure that begins with `const char *missing`: why it was not measured, or
 * NULL.  An array of fields describes it once, for the JSON and the CSV:
 *
 *	struct row { const char *missing, *name; double median; };
 *	static const struct field fields[] = {
 *		{ "name", F_TEXT, offsetof(struct row, name), CSV | ALWAYS },
 *		{ "available", F_AVAILABLE, 0, CSV | ALWAYS },
 *		{ "reason", F_REASON, 0, ALWAYS },
 *		{ "median", F_NUMBER, offsetof(struct row, median), CSV },
 *	};
 *
 * and add_records(run, RECORDS("rows", fields, rows, count)) of bench.h puts such rows into the
 * document.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A list of numbers; the memory is kept. */
struct numbers {
	double *of;
	size_t count;
};

/* Trials of several sizes: values[trial * columns + size]. */
struct matrix {
	const double *values;
	size_t rows, columns;
};

enum type {
	F_TEXT,	      /* const char *; NULL is null */
	F_NUMBER,     /* double; what is not finite is null */
	F_COUNT,      /* long */
	F_OPTIONAL,   /* long; 0 is null */
	F_INDEX,      /* long; a negative one is null */
	F_YES_NO,     /* bool */
	F_MAYBE,      /* int: 1, 0, or null for any other */
	F_NUMBERS,    /* struct numbers */
	F_INTEGERS,   /* struct numbers, whole ones */
	F_MATRIX,     /* struct matrix */
	F_WORD_LISTS, /* char **[2]: two lists ended by NULL; long ones are cut */
	F_AVAILABLE,  /* whether the record is not missing */
	F_REASON,     /* why the record is missing, or null */
	F_OBJECT,     /* bool: the object that the following "key.*" make; null when false */

	/* For people only, of a double. */
	F_MILLISECONDS, /* from ns */
	F_MEBIBYTES,	/* from bytes */
	F_PERCENT,	/* from 0 to 1 */
};

enum {
	CSV = 1,      /* also a column of the CSV */
	ALWAYS = 2,   /* also of records that are missing */
	CSV_ONLY = 4, /* not in the JSON by itself: an element of a list, as "median_ns.0" */
};

struct field {
	const char *key; /* of the JSON and the CSV; "fit.a_ns" is within the object "fit" */
	enum type type;
	unsigned int offset;
	int flags;
};

/* The fields that a `struct numbers trials` and its `struct summary summary` of TYPE make. */
#define TRIAL_FIELDS(type)                                                   \
	{ "trials_ns", F_NUMBERS, offsetof(type, trials), 0 },               \
		{ "mean", F_NUMBER, offsetof(type, summary.mean), CSV },     \
		{ "min", F_NUMBER, offsetof(type, summary.min), CSV },       \
		{ "max", F_NUMBER, offsetof(type, summary.max), CSV },       \
		{ "sd", F_NUMBER, offsetof(type, summary.sd), CSV },         \
		{ "median", F_NUMBER, offsetof(type, summary.median), CSV }, \
	{                                                                    \
		"se", F_NUMBER, offsetof(type, summary.se), CSV              \
	}

/* Those of its `struct comparison ratio`. */
#define RATIO_FIELDS(type)                                                    \
	{ "ratio", F_NUMBER, offsetof(type, ratio.ratio), CSV },              \
		{ "ratio_se", F_NUMBER, offsetof(type, ratio.se), CSV },      \
		{ "ratio_low", F_NUMBER, offsetof(type, ratio.low), 0 },      \
		{ "ratio_high", F_NUMBER, offsetof(type, ratio.high), 0 },    \
		{ "p", F_NUMBER, offsetof(type, ratio.p), 0 },                \
	{                                                                     \
		"significant", F_YES_NO, offsetof(type, ratio.significant), 0 \
	}

/* An array of records. */
struct records {
	const char *key; /* of the array in the document */
	const struct field *fields;
	size_t field_count;
	const void *first;
	size_t count, size; /* size: bytes from one record to the next */
};

/* The COUNT records at FIRST, described by the array FIELDS. */
#define RECORDS(key, fields, first, count) \
	((struct records){ key, fields, COUNT_OF(fields), first, count, sizeof(*(first)) })

/** Record INDEX of RECORDS. */
const void *record_at(const struct records *records, size_t index);

/** Why RECORD was not measured, or NULL. */
static inline const char *missing_of(const void *record)
{
	return *(const char *const *)record;
}

json_t *record_as_json(const struct records *records, const void *record);

/** All of them, as an array. */
json_t *records_as_json(const struct records *records);

/** RECORDS as CSV (RFC 4180, but with newlines alone), to free(); *LENGTH bytes. */
char *records_as_csv(const struct records *records, size_t *length);

#endif /* RECORD_H */

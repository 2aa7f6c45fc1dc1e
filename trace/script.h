/* SPDX-License-Identifier: MIT */
/* One turn of a sequence as a batch that can be run by itself. */
#ifndef TRACE_SCRIPT_H
#define TRACE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "flow.h"

#define SCRIPT_SLOTS 128 /* results are forwarded over at most 255 */
#define NOT_LEFT_OUT NULL

enum operand_type { OPERAND_NUMBER, OPERAND_FORWARD, OPERAND_DATA };

struct operand {
	enum operand_type type;
	long number; /* or the index of a slot or of data */
	long offset; /* into the data */
};

struct script_slot {
	const char *left_out; /* why it is a comment, or NOT_LEFT_OUT */
	const char *name;
	struct operand args[6];
	int argc;
	bool ends_if_failed;
};

/* A string, or zeroes: what the program had there is not known. */
struct script_data {
	const char *text;
	unsigned long address; /* in the program */
	size_t size;
};

struct script {
	const char *program; /* that was traced */
	size_t sequence;     /* from 1 */
	struct script_slot slots[SCRIPT_SLOTS];
	size_t slot_count;
	struct script_data data[6 * SCRIPT_SLOTS];
	size_t data_count;
};

/** The script of the middle turn of sequence INDEX; kept. */
const struct script *script_of(const char *program, const struct sequences *sequences,
			       size_t index);

/** Prints it in the language of ferry-asm(5). */
void script_print_text(const struct script *script);

/** Prints it as a C program for libferry. */
void script_print_c(const struct script *script);

/** Prints TEXT between double quotes, so that C and ferry-asm(5) read the same bytes. */
void script_print_string(const char *text);

#endif /* TRACE_SCRIPT_H */

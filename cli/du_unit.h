/* SPDX-License-Identifier: MIT */
/* The unit in which ferry du prints sizes: of options, of the environment, and as text. */
#ifndef DU_UNIT_H
#define DU_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "du_tree.h"

struct du_unit {
	uint64_t block;	    /* bytes */
	unsigned int scale; /* 0, or 1000 or 1024: as large a unit as fits each size */
	char suffix[4];	    /* after each number, such as "KiB" */
	bool groups;	    /* digits in groups, as the locale has them */
};

/** A number with a suffix, and what is wrong with it. */
enum du_number { DU_NUMBER, DU_NO_NUMBER, DU_BAD_SUFFIX, DU_TOO_LARGE };

/** Parses TEXT, "12K" or "MiB", of which the suffixes that GNU du knows multiply. */
enum du_number du_parse_number(const char *text, uint64_t *number);

/** Complains about TEXT, the argument of OPTION, which du_parse_number() has refused. */
void du_refuse_number(enum du_number why, const char *option, const char *text);

/** Parses TEXT, a block size, "si" or "human-readable". */
enum du_number du_parse_unit(const char *text, struct du_unit *unit);

/** The unit of the environment: DU_BLOCK_SIZE, BLOCK_SIZE, BLOCKSIZE, POSIXLY_CORRECT. */
struct du_unit du_default_unit(void);

/** Prints AMOUNT bytes, rounded up. */
void du_print_amount(const struct du_unit *unit, du_bytes amount);

#endif /* DU_UNIT_H */

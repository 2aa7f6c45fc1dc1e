/* SPDX-License-Identifier: MIT */
/*
 * A line of the corpus: the name of a subject, and the words that its program is made of.
 *
 *	batches 1234			those of the generator with seed 1234
 *	batches 1234,17:99		the same, from word 17 on those of another generator
 *	batches 1234,17:99,40=5		word 40 is 5
 */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/lib/differential/random.h"

#define MOST_CHANGES 8
#define LINE_SIZE 512 /* of the longest as text */

struct line {
	unsigned int subject; /* its number in subjects[] */
	uint64_t seed;
	struct change changes[MOST_CHANGES]; /* by position */
	unsigned int count;		     /* of the changes */
};

/* Reads TEXT into LINE.  Returns NULL, or what TEXT lacks. */
const char *line_parse(struct line *line, const char *text);

/* Without a newline. */
void line_print(const struct line *line, FILE *out);

/* The generator of LINE, which has to stay as long. */
struct random line_random(const struct line *line);

/* Changes LINE, whose program took WORDS words, at random. */
void line_mutate(struct line *line, uint64_t words, struct random *random);

#endif /* LINE_H */

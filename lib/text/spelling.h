/* SPDX-License-Identifier: MIT */
/* The nearest of many names to a misspelt one. */
#ifndef SPELLING_H
#define SPELLING_H

#include <stddef.h>

#include "lexer.h"
#include "name_index.h"

#define SPELLING_MAX 64 /* longer names get no hint */

struct spelling {
	struct span wrong;
	size_t distance;	      /* of the best so far */
	char hint[SPELLING_MAX + 32]; /* "; did you mean X?", or empty */
};

void spelling_start(struct spelling *spelling, struct span wrong);
void spelling_offer(struct spelling *spelling, const char *name);

/* Offers of every name there is. */
void spelling_offer_index(struct spelling *spelling, const struct name_index *index);
void spelling_offer_constants(struct spelling *spelling);
void spelling_offer_calls(struct spelling *spelling);

#endif /* SPELLING_H */

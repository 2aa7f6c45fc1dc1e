/* SPDX-License-Identifier: MIT */
/* What an image holds. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdint.h>

#include "text.h"

#define IMAGE_SLOTS_MAX (1U << 20)
#define IMAGE_DATA_MAX (1UL << 30) /* bytes of all data together */
#define IMAGE_NAME_MAX 255

/* The number of a goto: never a call, so the slot always fails. */
#define NR_GOTO (-1)

#define LABEL_END "end" /* built in: the end of every program */

_Static_assert(sizeof(long) == 8, "words of 64 bits are assumed");

struct data {
	char *name;
	enum data_kind kind;
	uint64_t size;	/* when loaded */
	void *contents; /* as loaded; NULL for a buffer */
};

struct label {
	char *name;
	uint32_t slot; /* up to the slot count */
};

/* What an address is relative to; the addend is the word that it is added to. */
enum base {
	BASE_NONE,
	BASE_DATA,    /* a data object */
	BASE_RESULTS, /* rets[0] */
	BASE_SLOTS,   /* slots[0] */
};

enum holder { HOLDER_SLOT, HOLDER_DATA };

/* Which word an address goes to: argument WORD of slot INDEX, or word WORD of data INDEX. */
struct word_place {
	enum holder holder;
	uint32_t index;
	uint32_t word;
};

struct relocation {
	struct word_place place;
	enum base base;
	uint32_t object; /* the data object of BASE_DATA, else 0 */
};

struct image {
	struct batch_slot *slots;
	size_t slot_count;
	unsigned int *lines; /* of each slot */
	struct data *data;
	size_t data_count;
	struct label *labels; /* by slot, within a slot in the order they were written */
	size_t label_count;
	struct relocation *relocations; /* by place, one at most for each */
	size_t relocation_count;
};

/* The word at PLACE, which must exist, as memory that need not be aligned. */
void *image_word(const struct image *image, struct word_place place);

/* As strcmp(). */
int word_place_compare(struct word_place a, struct word_place b);

/* The address that is in the word at PLACE, or NULL when it holds a number. */
const struct relocation *image_relocation(const struct image *image, struct word_place place);

#endif /* IMAGE_H */

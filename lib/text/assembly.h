/* SPDX-License-Identifier: MIT */
/*
 * A program being assembled: the image as far as the parser can fill it in, and
 * what waits for names that may come later.
 */
#ifndef ASSEMBLY_H
#define ASSEMBLY_H

#include "expression.h"

/* What waits: for the value of a word ... */
struct waiting_word {
	struct word_place place;
	struct expression expression;
};

/* ... the size of a buffer ... */
struct waiting_size {
	uint32_t data;
	struct expression expression;
};

/* ... the slot that a result is forwarded from ... */
struct waiting_forward {
	uint32_t slot;
	unsigned int argument;
	struct slot_name from;
};

/* ... or the label that a jump leads to. */
enum jump { JUMP_FAIL, JUMP_ZERO, JUMP_POS, JUMPS };

struct waiting_jump {
	uint32_t slot;
	enum jump jump;
	struct span label;
	struct place where;
};

struct assembly {
	struct image *image;
	struct text_errors *errors;
	struct symbols symbols;

	struct op *ops; /* of all expressions that wait */
	size_t op_count;
	struct waiting_word *words;
	size_t word_count;
	struct waiting_size *sizes;
	size_t size_count;
	struct waiting_forward *forwards;
	size_t forward_count;
	struct waiting_jump *jumps;
	size_t jump_count;
};

/* 0 or -ENOMEM, with an empty image; assembly_free() in any case. */
int assembly_start(struct assembly *assembly, struct text_errors *errors);

/* Frees everything but the image, which has been freed or handed on. */
void assembly_free(struct assembly *assembly);

/* The jump of SLOT that JUMP names. */
short *slot_jump(struct batch_slot *slot, enum jump jump);

/*
 * Gives the word at PLACE, or buffer DATA, its value now when EXPRESSION needs no
 * name, whose ops are then given back; else it waits.  0, -EINVAL or -ENOMEM.
 */
int assembly_set_word(struct assembly *assembly, struct word_place place,
		      const struct expression *expression);
int assembly_set_size(struct assembly *assembly, uint32_t data,
		      const struct expression *expression);

/*
 * Fills in everything that waits, once the whole text is parsed: 0, or -ENOMEM.  Mistakes go to
 * the list of errors.
 */
int assembly_resolve(struct assembly *assembly);

#endif /* ASSEMBLY_H */

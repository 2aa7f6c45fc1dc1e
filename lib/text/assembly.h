/* SPDX-License-Identifier: MIT */
/*
 * A program being assembled: the image as far as the parser can fill it in, and
 * what waits for names that may come later.
 */
#ifndef ASSEMBLY_H
#define ASSEMBLY_H

#include "image.h"
#include "lexer.h"
#include "name_index.h"

/* A slot, as a text names it. */
struct slot_name {
	struct place where;
	struct span label; /* empty when it is given by its number */
	uint64_t number;
};

enum operation {
	/* these push */
	OP_NUMBER,
	OP_NAME,     /* of data: its address; else a constant */
	OP_SIZEOF,   /* of data */
	OP_RESULT,   /* the address of a slot's result */
	OP_ARGUMENT, /* the address of a slot's argument */
	/* these replace the last */
	OP_NEGATE,
	OP_COMPLEMENT,
	/* these replace the last two */
	OP_ADD,
	OP_SUBTRACT,
	OP_SHIFT,
	OP_AND,
	OP_OR,
};

struct op {
	enum operation operation;
	struct place where;
	struct span name;  /* OP_NAME, OP_SIZEOF, or the slot's label */
	uint64_t number;   /* OP_NUMBER, or the slot's number when it has no label */
	unsigned argument; /* OP_ARGUMENT */
};

/* An operand in postfix order: ops[first .. first + count - 1]. */
struct expression {
	size_t first;
	size_t count;
	struct place where;
	bool symbolic; /* some name must be known to evaluate it */
};

/* Operands nest this deep at most. */
#define NESTING_MAX 64

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

struct data_source {
	struct place where;
	bool sized;
};

struct assembly {
	struct image *image;
	struct text_error *error;

	struct place *label_places; /* of image->labels[] */
	size_t label_place_count;
	struct data_source *data_sources; /* of image->data[] */
	size_t data_source_count;

	struct op *ops;
	size_t op_count;
	struct waiting_word *words;
	size_t word_count;
	struct waiting_size *sizes;
	size_t size_count;
	struct waiting_forward *forwards;
	size_t forward_count;
	struct waiting_jump *jumps;
	size_t jump_count;

	/* Filled in once everything is parsed. */
	struct name_index labels;
	struct name_index data;
};

/* 0 or -ENOMEM, with an empty image; assembly_free() in any case. */
int assembly_start(struct assembly *assembly, struct text_error *error);

/* Frees everything but the image, which has been freed or handed on. */
void assembly_free(struct assembly *assembly);

/* The jump of SLOT that JUMP names. */
short *slot_jump(struct ferry_slot *slot, enum jump jump);

/*
 * Gives the word at PLACE, or buffer DATA, its value now when EXPRESSION needs no
 * name, whose ops are then given back; else it waits.  0, -EINVAL or -ENOMEM.
 */
int assembly_set_word(struct assembly *assembly, struct word_place place,
		      const struct expression *expression);
int assembly_set_size(struct assembly *assembly, uint32_t data,
		      const struct expression *expression);

/* The same once every name is known. */
int assembly_set_known_word(struct assembly *assembly, struct word_place place,
			    const struct expression *expression);
int assembly_set_known_size(struct assembly *assembly, uint32_t data,
			    const struct expression *expression);

/* Fills in everything that waits: 0, -EINVAL or -ENOMEM. */
int assembly_resolve(struct assembly *assembly);

/* The index of the slot named in *SLOT: 0 or -EINVAL. */
int assembly_find_slot(const struct assembly *assembly, const struct slot_name *name,
		       uint32_t *slot);

/* How many characters of NAME a message shows. */
int shown_length(struct span name);

#endif /* ASSEMBLY_H */

/* SPDX-License-Identifier: MIT */
/* Expressions and their values. */
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include "symbols.h"

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

/* An expression in postfix order: ops[first .. first + count - 1] of its program. */
struct expression {
	size_t first;
	size_t count;
	struct place where;
	bool symbolic; /* some name must be known to evaluate it */
};

/* Operands nest this deep at most. */
#define NESTING_MAX 64

/* Wide enough for every 64-bit value, with or without a sign, and sums of two. */
__extension__ typedef __int128 wide;

/* A number, or an address: a base and what is added to it. */
struct value {
	wide number; /* -2^63 .. 2^64 - 1 */
	enum base base;
	uint32_t object;
};

/*
 * The value of EXPRESSION, whose operations are OPS[first ...]: 0 or -EINVAL.  A symbolic
 * expression needs the index of SYMBOLS.
 */
int evaluate(const struct symbols *symbols, const struct op ops[],
	     const struct expression *expression, struct value *value);

#endif /* EXPRESSION_H */

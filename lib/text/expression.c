// SPDX-License-Identifier: MIT
/* The values of expressions, by a stack machine. */
#include <assert.h>
#include <stddef.h>

#include "expression.h"
#include "names.h"

#define LOWEST (-((wide)1 << 63))
#define HIGHEST (((wide)1 << 64) - 1)

/*
 * What the parser's nesting limit allows: each level leaves a left operand behind
 * for each of the four precedences.
 */
#define STACK_MAX (4 * (NESTING_MAX + 1) + 1)

static int fail_overflow(const struct symbols *symbols, const struct op *op)
{
	return text_fail(symbols->errors, op->where,
			 "integer overflow: the result does not fit in 64 bits");
}

static int push_name(const struct symbols *symbols, const struct op *op, struct value *value)
{
	uint32_t data = symbols_find_data(symbols, op->name);
	long number;

	if (data != NOT_FOUND) {
		*value = (struct value){ 0, BASE_DATA, data };
		return 0;
	}
	if (!constant_value(op->name, &number)) {
		symbols_complain_value(symbols, op->name, op->where);
		return -EINVAL;
	}
	*value = (struct value){ number, BASE_NONE, 0 };
	return 0;
}

static int push_sizeof(const struct symbols *symbols, const struct op *op, struct value *value)
{
	uint32_t data = symbols_find_data(symbols, op->name);

	if (data == NOT_FOUND) {
		symbols_complain_data(symbols, op->name, op->where);
		return -EINVAL;
	}
	if (!symbols->data_sources[data].sized)
		return text_fail(symbols->errors, op->where,
				 "the size of %.*s is not known yet; declare it before this",
				 shown_length(op->name), op->name.start);
	*value = (struct value){ (wide)symbols->image->data[data].size, BASE_NONE, 0 };
	return 0;
}

static int push_slot_address(const struct symbols *symbols, const struct op *op,
			     struct value *value)
{
	const struct slot_name name = { op->where, op->name, op->number };
	uint32_t slot;
	int error = symbols_find_slot(symbols, &name, &slot);

	if (error)
		return error;
	if (op->operation == OP_RESULT) {
		*value = (struct value){ (wide)slot * sizeof(long), BASE_RESULTS, 0 };
		return 0;
	}
	*value = (struct value){ (wide)slot * sizeof(struct batch_slot) +
					 offsetof(struct batch_slot, arg) +
					 (wide)op->argument * sizeof(long),
				 BASE_SLOTS, 0 };
	return 0;
}

static int push(const struct symbols *symbols, const struct op *op, struct value *value)
{
	switch (op->operation) {
	case OP_NAME:
		return push_name(symbols, op, value);
	case OP_SIZEOF:
		return push_sizeof(symbols, op, value);
	case OP_RESULT:
	case OP_ARGUMENT:
		return push_slot_address(symbols, op, value);
	default:
		*value = (struct value){ (wide)op->number, BASE_NONE, 0 };
		return 0;
	}
}

static int fail_address(const struct symbols *symbols, const struct op *op)
{
	return text_fail(symbols->errors, op->where,
			 "only a number can be added to an address or subtracted from it");
}

static int apply_unary(const struct symbols *symbols, const struct op *op, struct value *value)
{
	if (value->base)
		return fail_address(symbols, op);
	if (op->operation == OP_NEGATE)
		value->number = -value->number;
	else if (value->number > INT64_MAX)
		value->number = HIGHEST - value->number; /* without a sign it stays so */
	else
		value->number = ~value->number;
	return value->number < LOWEST ? fail_overflow(symbols, op) : 0;
}

static int apply_shift(const struct symbols *symbols, const struct op *op, struct value *left,
		       wide count)
{
	if (count < 0 || count > 63)
		return text_fail(symbols->errors, op->where, "a shift is by 0 to 63 bits");
	left->number *= (wide)1 << count;
	return 0;
}

static int apply_sum(const struct symbols *symbols, const struct op *op, struct value *left,
		     const struct value *right)
{
	if (right->base && (left->base || op->operation == OP_SUBTRACT))
		return fail_address(symbols, op);
	if (right->base) {
		left->base = right->base;
		left->object = right->object;
	}
	left->number += op->operation == OP_ADD ? right->number : -right->number;
	return 0;
}

static int apply_binary(const struct symbols *symbols, const struct op *op, struct value *left,
			const struct value *right)
{
	bool sum = op->operation == OP_ADD || op->operation == OP_SUBTRACT;
	int error = 0;

	if (!sum && (left->base || right->base))
		return fail_address(symbols, op);
	if (sum)
		error = apply_sum(symbols, op, left, right);
	else if (op->operation == OP_SHIFT)
		error = apply_shift(symbols, op, left, right->number);
	else if (op->operation == OP_AND)
		left->number &= right->number;
	else
		left->number |= right->number;
	if (error)
		return error;
	if (left->number < LOWEST || left->number > HIGHEST)
		return fail_overflow(symbols, op);
	return 0;
}

int evaluate(const struct symbols *symbols, const struct op ops[],
	     const struct expression *expression, struct value *value)
{
	const struct op *op = &ops[expression->first];
	const struct op *end = op + expression->count;
	struct value stack[STACK_MAX];
	struct value *top = stack;
	int error = 0;

	for (; op < end && !error; op++) {
		if (op->operation < OP_NEGATE) {
			error = push(symbols, op, top++);
		} else if (op->operation < OP_ADD) {
			assert(top > stack); /* operators come behind their operands */
			error = apply_unary(symbols, op, top - 1);
		} else {
			assert(top > stack + 1);
			top--;
			error = apply_binary(symbols, op, top - 1, top);
		}
	}
	if (!error)
		*value = stack[0];
	return error;
}

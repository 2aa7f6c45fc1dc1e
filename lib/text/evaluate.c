// SPDX-License-Identifier: MIT
/* The values of expressions, by a stack machine. */
#include <assert.h>
#include <stddef.h>

#include "evaluate.h"
#include "names.h"
#include "spelling.h"

#define LOWEST (-((wide)1 << 63))
#define HIGHEST (((wide)1 << 64) - 1)

/*
 * What the parser's nesting limit allows: each level leaves a left operand behind
 * for each of the four precedences.
 */
#define STACK_MAX (4 * (NESTING_MAX + 1) + 1)

static int fail_overflow(const struct assembly *assembly, const struct op *op)
{
	return text_fail(assembly->error, op->where,
			 "integer overflow: the result does not fit in 64 bits");
}

static int fail_unknown(const struct assembly *assembly, const struct op *op)
{
	const struct span *name = &op->name;
	struct spelling spelling;

	if (name_index_find(&assembly->labels, *name) != NOT_FOUND)
		return text_fail(
			assembly->error, op->where,
			"%.*s is a label; write &%.*s for the address of its result or $%.*s "
			"to forward it",
			shown_length(*name), name->start, shown_length(*name), name->start,
			shown_length(*name), name->start);
	spelling_start(&spelling, *name);
	spelling_offer_index(&spelling, &assembly->data);
	spelling_offer_constants(&spelling);
	return text_fail(assembly->error, op->where, "unknown constant %.*s%s", shown_length(*name),
			 name->start, spelling.hint);
}

static int push_name(const struct assembly *assembly, const struct op *op, struct value *value)
{
	uint32_t data = name_index_find(&assembly->data, op->name);
	long number;

	if (data != NOT_FOUND) {
		*value = (struct value){ 0, BASE_DATA, data };
		return 0;
	}
	if (!constant_value(op->name, &number))
		return fail_unknown(assembly, op);
	*value = (struct value){ number, BASE_NONE, 0 };
	return 0;
}

static int push_sizeof(const struct assembly *assembly, const struct op *op, struct value *value)
{
	uint32_t data = name_index_find(&assembly->data, op->name);
	struct spelling spelling;

	if (data == NOT_FOUND) {
		spelling_start(&spelling, op->name);
		spelling_offer_index(&spelling, &assembly->data);
		return text_fail(assembly->error, op->where, "unknown data %.*s%s",
				 shown_length(op->name), op->name.start, spelling.hint);
	}
	if (!assembly->data_sources[data].sized)
		return text_fail(assembly->error, op->where,
				 "the size of %.*s is not known yet; declare it before this",
				 shown_length(op->name), op->name.start);
	*value = (struct value){ (wide)assembly->image->data[data].size, BASE_NONE, 0 };
	return 0;
}

static int push_slot_address(const struct assembly *assembly, const struct op *op,
			     struct value *value)
{
	const struct slot_name name = { op->where, op->name, op->number };
	uint32_t slot;
	int error = assembly_find_slot(assembly, &name, &slot);

	if (error)
		return error;
	if (op->operation == OP_RESULT) {
		*value = (struct value){ (wide)slot * sizeof(long), BASE_RESULTS, 0 };
		return 0;
	}
	*value = (struct value){ (wide)slot * sizeof(struct ferry_slot) +
					 offsetof(struct ferry_slot, arg) +
					 (wide)op->argument * sizeof(long),
				 BASE_SLOTS, 0 };
	return 0;
}

static int push(const struct assembly *assembly, const struct op *op, struct value *value)
{
	switch (op->operation) {
	case OP_NAME:
		return push_name(assembly, op, value);
	case OP_SIZEOF:
		return push_sizeof(assembly, op, value);
	case OP_RESULT:
	case OP_ARGUMENT:
		return push_slot_address(assembly, op, value);
	default:
		*value = (struct value){ (wide)op->number, BASE_NONE, 0 };
		return 0;
	}
}

static int fail_address(const struct assembly *assembly, const struct op *op)
{
	return text_fail(assembly->error, op->where,
			 "only a number can be added to an address or subtracted from it");
}

static int apply_unary(const struct assembly *assembly, const struct op *op, struct value *value)
{
	if (value->base)
		return fail_address(assembly, op);
	if (op->operation == OP_NEGATE)
		value->number = -value->number;
	else if (value->number > INT64_MAX)
		value->number = HIGHEST - value->number; /* without a sign it stays so */
	else
		value->number = ~value->number;
	return value->number < LOWEST ? fail_overflow(assembly, op) : 0;
}

static int apply_shift(const struct assembly *assembly, const struct op *op, struct value *left,
		       wide count)
{
	if (count < 0 || count > 63)
		return text_fail(assembly->error, op->where, "a shift is by 0 to 63 bits");
	left->number *= (wide)1 << count;
	return 0;
}

static int apply_sum(const struct assembly *assembly, const struct op *op, struct value *left,
		     const struct value *right)
{
	if (right->base && (left->base || op->operation == OP_SUBTRACT))
		return fail_address(assembly, op);
	if (right->base) {
		left->base = right->base;
		left->object = right->object;
	}
	left->number += op->operation == OP_ADD ? right->number : -right->number;
	return 0;
}

static int apply_binary(const struct assembly *assembly, const struct op *op, struct value *left,
			const struct value *right)
{
	bool sum = op->operation == OP_ADD || op->operation == OP_SUBTRACT;
	int error = 0;

	if (!sum && (left->base || right->base))
		return fail_address(assembly, op);
	if (sum)
		error = apply_sum(assembly, op, left, right);
	else if (op->operation == OP_SHIFT)
		error = apply_shift(assembly, op, left, right->number);
	else if (op->operation == OP_AND)
		left->number &= right->number;
	else
		left->number |= right->number;
	if (error)
		return error;
	if (left->number < LOWEST || left->number > HIGHEST)
		return fail_overflow(assembly, op);
	return 0;
}

int evaluate(const struct assembly *assembly, const struct expression *expression,
	     struct value *value)
{
	const struct op *op = &assembly->ops[expression->first];
	const struct op *end = op + expression->count;
	struct value stack[STACK_MAX];
	struct value *top = stack;
	int error = 0;

	for (; op < end && !error; op++) {
		if (op->operation < OP_NEGATE) {
			error = push(assembly, op, top++);
		} else if (op->operation < OP_ADD) {
			assert(top > stack); /* operators come behind their operands */
			error = apply_unary(assembly, op, top - 1);
		} else {
			assert(top > stack + 1);
			top--;
			error = apply_binary(assembly, op, top - 1, top);
		}
	}
	if (!error)
		*value = stack[0];
	return error;
}

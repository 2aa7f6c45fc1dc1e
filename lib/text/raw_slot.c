// SPDX-License-Identifier: MIT
/* Parsing raw slots: every field by its name, for what calls cannot express. */
#include <limits.h>

#include "names.h"
#include "parser.h"

static const struct field {
	const char *name;
	int low;
	int high;
} fields[] = {
	{ "nr", SHRT_MIN, SHRT_MAX },	{ "fail", SHRT_MIN, SHRT_MAX },
	{ "zero", SHRT_MIN, SHRT_MAX }, { "pos", SHRT_MIN, SHRT_MAX },
	{ "argc", 0, UCHAR_MAX },	{ "from", 0, UCHAR_MAX },
	{ "reserved", 0, UCHAR_MAX },	{ "args", 0, 0 },
};

enum { NR, FAIL, ZERO, POS, ARGC, FROM, RESERVED, ARGS, FIELDS };

static unsigned int field_called(struct span name)
{
	unsigned int field = 0;

	while (field < FIELDS && !span_is(name, fields[field].name))
		field++;
	return field;
}

static void set_field(struct ferry_slot *slot, unsigned int field, unsigned int element, long value)
{
	switch (field) {
	case NR:
		slot->nr = (short)value;
		return;
	case FAIL:
		slot->jump_fail = (short)value;
		return;
	case ZERO:
		slot->jump_zero = (short)value;
		return;
	case POS:
		slot->jump_pos = (short)value;
		return;
	case ARGC:
		slot->argc = (unsigned char)value;
		return;
	case FROM:
		slot->from[element] = (unsigned char)value;
		return;
	default:
		slot->reserved = (unsigned char)value;
	}
}

/* `nr=` takes a call's name too. */
static int parse_call_name(struct parser *parser, struct ferry_slot *slot)
{
	int nr = call_number(parser->token.span);

	if (nr < 0)
		return parser_fail(parser, "the name or number of a call");
	slot->nr = (short)nr;
	return parser_next(parser);
}

static int parse_element(struct parser *parser, uint32_t index, unsigned int field,
			 unsigned int element)
{
	struct ferry_slot *slot = &parser->assembly->image->slots[index];
	long value = 0;
	int error;

	if (element == FERRY_MAX_ARGS)
		return text_fail(parser->assembly->error, parser->token.where,
				 "%s has %d elements at most", fields[field].name, FERRY_MAX_ARGS);
	if (field == ARGS)
		return parse_word(parser, (struct word_place){ HOLDER_SLOT, index, element });
	if (field == NR && parser_at(parser, TOKEN_NAME))
		return parse_call_name(parser, slot);
	error = parse_integer(parser, fields[field].name, fields[field].low, fields[field].high,
			      &value);
	if (!error)
		set_field(slot, field, element, value);
	return error;
}

/* The value of a field: one element, or a list of them for from and args. */
static int parse_field(struct parser *parser, uint32_t index, unsigned int field)
{
	bool is_list = field == FROM || field == ARGS;
	unsigned int element = 0;
	bool more = true;
	int error = 0;

	while (!error && more) {
		error = parse_element(parser, index, field, element++);
		if (!is_list)
			return error;
		error = error ? error : parse_comma(parser, &more);
	}
	return error;
}

int parse_raw_slot(struct parser *parser, uint32_t index)
{
	unsigned int seen = 0;
	int error = 0;

	while (!error && parser_at(parser, TOKEN_NAME)) {
		unsigned int field = field_called(parser->token.span);

		if (field == FIELDS)
			return parser_fail(parser,
					   "nr, fail, zero, pos, argc, from, reserved or args");
		if (seen & 1U << field)
			return text_fail(parser->assembly->error, parser->token.where,
					 "%s is given twice", fields[field].name);
		seen |= 1U << field;
		error = parser_next(parser);
		error = error ? error : parser_take(parser, '=', "=");
		error = error ? error : parse_field(parser, index, field);
	}
	return error;
}

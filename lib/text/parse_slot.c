// SPDX-License-Identifier: MIT
/* Parsing slots: calls with their arguments and jumps. */
#include <errno.h>
#include <limits.h>

#include "array.h"
#include "names.h"
#include "parser.h"

static struct batch_slot *last_slot(const struct parser *parser)
{
	const struct image *image = parser->assembly->image;

	return &image->slots[image->slot_count - 1];
}

static uint32_t last_index(const struct parser *parser)
{
	return (uint32_t)parser->assembly->image->slot_count - 1;
}

int add_slot(struct parser *parser, struct place where)
{
	struct image *image = parser->assembly->image;
	size_t line_count = image->slot_count;
	unsigned int *line;

	if (image->slot_count == IMAGE_SLOTS_MAX)
		return text_fail(parser->assembly->errors, where, "more than %u slots",
				 IMAGE_SLOTS_MAX);
	line = array_add(image->lines, line_count);
	if (!line)
		return -ENOMEM;
	if (!array_add(image->slots, image->slot_count))
		return -ENOMEM;
	*line = where.line;
	return 0;
}

/* ---- jumps ---- */

/* `+N` or `-N`. */
static int parse_distance(struct parser *parser, short *jump)
{
	long distance;
	int error = parse_integer(parser, "a jump", SHRT_MIN, SHRT_MAX, &distance);

	if (!error)
		*jump = (short)distance;
	return error;
}

/* Where the jumps set in WHICH, a bit for each, lead: a label, `end` or a distance. */
static int parse_target(struct parser *parser, unsigned int which)
{
	struct assembly *assembly = parser->assembly;
	const struct token target = parser->token;
	bool is_name = target.kind == TOKEN_NAME;
	bool is_end = is_name && span_is(target.span, LABEL_END);
	short distance = is_end ? -1 : 0;
	enum jump jump;
	int error;

	if (!is_name && target.kind != '+' && target.kind != '-')
		return parser_fail(parser, "a label, end, +SLOTS or -SLOTS");
	error = is_name ? parser_next(parser) : parse_distance(parser, &distance);
	for (jump = JUMP_FAIL; jump < JUMPS && !error; jump++) {
		struct waiting_jump *waiting;

		if (!(which & 1U << jump))
			continue;
		*slot_jump(last_slot(parser), jump) = distance;
		if (!is_name || is_end)
			continue;
		waiting = array_add(assembly->jumps, assembly->jump_count);
		if (!waiting)
			return -ENOMEM;
		*waiting = (struct waiting_jump){ last_index(parser), jump, target.span,
						  target.where };
	}
	return error;
}

/* The jumps that a word before `->` stands for, or 0. */
static unsigned int jumps_called(struct span word)
{
	if (span_is(word, "fail"))
		return 1U << JUMP_FAIL;
	if (span_is(word, "zero"))
		return 1U << JUMP_ZERO;
	if (span_is(word, "pos"))
		return 1U << JUMP_POS;
	return span_is(word, "any") ? (1U << JUMPS) - 1 : 0;
}

static int parse_jumps(struct parser *parser)
{
	bool more = parser_at(parser, TOKEN_NAME);
	unsigned int seen = 0;
	int error = 0;

	while (!error && more) {
		struct token word = parser->token;
		unsigned int which = jumps_called(word.span);

		if (word.kind != TOKEN_NAME || !which)
			return parser_fail(parser, "fail, zero, pos or any");
		if (which & seen)
			return text_fail(parser->assembly->errors, word.where,
					 "a second jump for the same result");
		seen |= which;
		error = parser_next(parser);
		error = error ? error : parser_take(parser, TOKEN_ARROW, "->");
		error = error ? error : parse_target(parser, which);
		error = error ? error : parse_comma(parser, &more);
	}
	return error;
}

/* ---- arguments ---- */

/* `$LABEL`. */
static int parse_forward(struct parser *parser, unsigned int argument)
{
	struct assembly *assembly = parser->assembly;
	struct slot_name from = { .where = parser->token.where };
	struct waiting_forward *waiting;
	int error = parser_next(parser);

	error = error ? error : parse_slot_name(parser, &from);
	if (!error && !parser_at(parser, ',') && !parser_at(parser, ')'))
		error = parser_fail(parser, ", or ) (a forwarded result is a whole argument)");
	if (error)
		return error;
	waiting = array_add(assembly->forwards, assembly->forward_count);
	if (!waiting)
		return -ENOMEM;
	last_slot(parser)->argc |= BATCH_ARGC_FORWARD;
	*waiting = (struct waiting_forward){ last_index(parser), argument, from };
	return 0;
}

static int parse_argument(struct parser *parser, unsigned int argument)
{
	if (argument == BATCH_MAX_ARGS)
		return text_fail(parser->assembly->errors, parser->token.where,
				 "too many arguments; a call takes %d at most", BATCH_MAX_ARGS);
	if (parser_at(parser, '$'))
		return parse_forward(parser, argument);
	return parse_word(parser, (struct word_place){ HOLDER_SLOT, last_index(parser), argument });
}

/* `(argument, ...)`. */
static int parse_arguments(struct parser *parser)
{
	unsigned int count = 0;
	bool more;
	int error = parser_take(parser, '(', "(");

	if (error)
		return error;
	more = !parser_at(parser, ')');
	while (!error && more) {
		error = parse_argument(parser, count++);
		error = error ? error : parse_comma(parser, &more);
	}
	if (error)
		return error;
	last_slot(parser)->argc |= (unsigned char)count;
	return parser_take(parser, ')', ", or )");
}

/* ---- raw slots: every field by its name, for what calls cannot express ---- */

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

static void set_field(struct batch_slot *slot, unsigned int field, unsigned int element, long value)
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
static int parse_call_name(struct parser *parser, struct batch_slot *slot)
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
	struct batch_slot *slot = &parser->assembly->image->slots[index];
	long value = 0;
	int error;

	if (element == BATCH_MAX_ARGS)
		return text_fail(parser->assembly->errors, parser->token.where,
				 "%s has %d elements at most", fields[field].name, BATCH_MAX_ARGS);
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

static int parse_raw_slot(struct parser *parser, uint32_t index)
{
	unsigned int seen = 0;
	int error = 0;

	while (!error && parser_at(parser, TOKEN_NAME)) {
		unsigned int field = field_called(parser->token.span);

		if (field == FIELDS)
			return parser_fail(parser,
					   "nr, fail, zero, pos, argc, from, reserved or args");
		if (seen & 1U << field)
			return text_fail(parser->assembly->errors, parser->token.where,
					 "%s is given twice", fields[field].name);
		seen |= 1U << field;
		error = parser_next(parser);
		error = error ? error : parser_take(parser, '=', "=");
		error = error ? error : parse_field(parser, index, field);
	}
	return error;
}

/* ---- the forms of a slot ---- */

static int parse_copy(struct parser *parser, struct place where)
{
	unsigned int count;
	int error = parse_arguments(parser);

	last_slot(parser)->nr = BATCH_WDCPY;
	if (error)
		return error;
	count = last_slot(parser)->argc & ~(unsigned int)BATCH_ARGC_FORWARD;
	if (count != 2)
		return text_fail(parser->assembly->errors, where,
				 "copy takes a destination and a source, not %u arguments", count);
	return parse_jumps(parser);
}

static int parse_numbered_call(struct parser *parser)
{
	long nr;
	int error = parse_integer(parser, "the number of a call", SHRT_MIN, SHRT_MAX, &nr);

	if (error)
		return error;
	last_slot(parser)->nr = (short)nr;
	error = parse_arguments(parser);
	return error ? error : parse_jumps(parser);
}

static int parse_named_call(struct parser *parser, const struct token *word)
{
	int nr = call_number(word->span);
	struct spelling spelling;
	int error;

	if (nr < 0) {
		spelling_start(&spelling, word->span);
		spelling_offer_calls(&spelling);
		return text_fail(parser->assembly->errors, word->where, "unknown call %.*s%s",
				 shown_length(word->span), word->span.start,
				 *spelling.hint ?
					 spelling.hint :
					 "; one without a name is written call NUMBER(...)");
	}
	last_slot(parser)->nr = (short)nr;
	error = parse_arguments(parser);
	return error ? error : parse_jumps(parser);
}

int parse_slot(struct parser *parser, const struct token *word)
{
	bool is_call = parser_at(parser, '(');
	int error;

	error = add_slot(parser, word->where);
	if (error)
		return error;
	if (!is_call && span_is(word->span, "goto")) {
		last_slot(parser)->nr = NR_GOTO;
		return parse_target(parser, 1U << JUMP_FAIL);
	}
	if (!is_call && span_is(word->span, "call"))
		return parse_numbered_call(parser);
	if (!is_call && span_is(word->span, "slot"))
		return parse_raw_slot(parser, last_index(parser));
	if (!is_call)
		return parser_fail(parser, "( after the name of a call");
	if (span_is(word->span, "copy"))
		return parse_copy(parser, word->where);
	return parse_named_call(parser, word);
}

// SPDX-License-Identifier: MIT
/* Parsing expressions into postfix order. */
#include <errno.h>

#include "array.h"
#include "parser.h"

static int emit(struct parser *parser, struct op op)
{
	struct assembly *assembly = parser->assembly;
	struct op *new = array_add(assembly->ops, assembly->op_count);

	if (!new)
		return -ENOMEM;
	*new = op;
	return 0;
}

/* From the loosest to the tightest, as in C. */
static const struct binary {
	int kind;
	unsigned int precedence;
	enum operation operation;
} binaries[] = {
	{ '|', 0, OP_OR },  { '&', 1, OP_AND },	     { TOKEN_SHIFT, 2, OP_SHIFT },
	{ '+', 3, OP_ADD }, { '-', 3, OP_SUBTRACT },
};

#define TIGHTEST 3

static const struct binary *binary_at(const struct parser *parser, unsigned int precedence)
{
	size_t i;

	for (i = 0; i < sizeof(binaries) / sizeof(*binaries); i++)
		if (parser_at(parser, binaries[i].kind) && binaries[i].precedence == precedence)
			return &binaries[i];
	return NULL;
}

int parse_slot_name(struct parser *parser, struct slot_name *name)
{
	const struct token *token = &parser->token;

	name->number = token->number;
	name->label = (struct span){ token->span.start, 0 };
	if (token->kind == TOKEN_NAME)
		name->label = token->span;
	else if (token->kind != TOKEN_NUMBER)
		return parser_fail(parser, "a label or the number of a slot");
	return parser_next(parser);
}

/* `.argN`, if it is there. */
static int parse_argument_suffix(struct parser *parser, struct op *op)
{
	const struct span *span = &parser->token.span;
	int error;

	if (!parser_at(parser, '.'))
		return 0;
	error = parser_next(parser);
	if (error)
		return error;
	if (!parser_at(parser, TOKEN_NAME) || span->length != 4 ||
	    !span_is((struct span){ span->start, 3 }, "arg") || span->start[3] < '0' ||
	    span->start[3] >= '0' + BATCH_MAX_ARGS)
		return parser_fail(parser, "arg0 to arg5");
	op->operation = OP_ARGUMENT;
	op->argument = (unsigned int)(span->start[3] - '0');
	return parser_next(parser);
}

/* `&LABEL` or `&LABEL.argN`. */
static int parse_slot_address(struct parser *parser)
{
	struct slot_name slot = { .where = parser->token.where };
	struct op op = { .operation = OP_RESULT, .where = parser->token.where };
	int error = parser_next(parser);

	error = error ? error : parse_slot_name(parser, &slot);
	if (error)
		return error;
	op.name = slot.label;
	op.number = slot.number;
	error = parse_argument_suffix(parser, &op);
	return error ? error : emit(parser, op);
}

/* `sizeof(NAME)` behind its word. */
static int parse_sizeof(struct parser *parser)
{
	struct op op = { .operation = OP_SIZEOF };
	int error = parser_take(parser, '(', "( after sizeof");

	if (error)
		return error;
	op.where = parser->token.where;
	op.name = parser->token.span;
	error = parser_take(parser, TOKEN_NAME, "the name of data");
	error = error ? error : parser_take(parser, ')', ")");
	return error ? error : emit(parser, op);
}

static int parse_name_or_number(struct parser *parser)
{
	const struct token token = parser->token;
	int error;

	if (token.kind != TOKEN_NAME && token.kind != TOKEN_NUMBER)
		return parser_fail(parser, "a number, a name or &LABEL");
	error = parser_next(parser);
	if (error)
		return error;
	if (token.kind == TOKEN_NUMBER)
		return emit(parser, (struct op){ .operation = OP_NUMBER,
						 .where = token.where,
						 .number = token.number });
	if (span_is(token.span, "sizeof"))
		return parse_sizeof(parser);
	return emit(parser,
		    (struct op){ .operation = OP_NAME, .where = token.where, .name = token.span });
}

static int parse_precedence(struct parser *parser, unsigned int precedence);

static int parse_parentheses(struct parser *parser)
{
	int error = parser_next(parser);

	error = error ? error : parse_precedence(parser, 0);
	return error ? error : parser_take(parser, ')', ")");
}

static int parse_unary(struct parser *parser);

static int parse_sign(struct parser *parser)
{
	struct op op = { .operation = parser_at(parser, '-') ? OP_NEGATE : OP_COMPLEMENT,
			 .where = parser->token.where };
	int error = parser_next(parser);

	error = error ? error : parse_unary(parser);
	return error ? error : emit(parser, op);
}

static int parse_unary(struct parser *parser)
{
	int error;

	if (parser_at(parser, '&'))
		return parse_slot_address(parser);
	if (parser_at(parser, '$'))
		return text_fail(parser->assembly->errors, parser->token.where,
				 "only a whole argument of a call can be a forwarded result");
	if (!parser_at(parser, '(') && !parser_at(parser, '-') && !parser_at(parser, '~'))
		return parse_name_or_number(parser);
	if (parser->nesting == NESTING_MAX)
		return text_fail(parser->assembly->errors, parser->token.where,
				 "an expression nested deeper than %d", NESTING_MAX);
	parser->nesting++;
	error = parser_at(parser, '(') ? parse_parentheses(parser) : parse_sign(parser);
	parser->nesting--;
	return error;
}

static int parse_precedence(struct parser *parser, unsigned int precedence)
{
	const struct binary *binary;
	struct place where;
	int error;

	if (precedence > TIGHTEST)
		return parse_unary(parser);
	error = parse_precedence(parser, precedence + 1);
	while (!error && (binary = binary_at(parser, precedence))) {
		where = parser->token.where;
		error = parser_next(parser);
		error = error ? error : parse_precedence(parser, precedence + 1);
		error = error ? error :
				emit(parser,
				     (struct op){ .operation = binary->operation, .where = where });
	}
	return error;
}

int parse_expression(struct parser *parser, struct expression *expression)
{
	const struct assembly *assembly = parser->assembly;
	size_t i;
	int error;

	*expression =
		(struct expression){ .first = assembly->op_count, .where = parser->token.where };
	error = parse_precedence(parser, 0);
	expression->count = assembly->op_count - expression->first;
	for (i = expression->first; i < assembly->op_count; i++)
		if (assembly->ops[i].operation > OP_NUMBER &&
		    assembly->ops[i].operation < OP_NEGATE)
			expression->symbolic = true;
	return error;
}

int parse_word(struct parser *parser, struct word_place place)
{
	struct expression expression;
	int error = parse_expression(parser, &expression);

	return error ? error : assembly_set_word(parser->assembly, place, &expression);
}

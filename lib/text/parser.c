// SPDX-License-Identifier: MIT
/* The parser's basics: tokens, integers, commas, names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parser.h"

int parser_next(struct parser *parser)
{
	return lexer_next(&parser->lexer, &parser->token);
}

bool parser_at(const struct parser *parser, int kind)
{
	return parser->token.kind == kind;
}

int parser_fail(struct parser *parser, const char *description)
{
	const struct token *token = &parser->token;
	struct text_errors *errors = parser->assembly->errors;

	switch (token->kind) {
	case TOKEN_END:
		return text_fail(errors, token->where, "expected %s, not the end of the text",
				 description);
	case TOKEN_NEWLINE:
		return text_fail(errors, token->where, "expected %s, not the end of the line",
				 description);
	case TOKEN_STRING:
		return text_fail(errors, token->where, "expected %s, not a string", description);
	default:
		return text_fail(errors, token->where, "expected %s, not %.*s", description,
				 shown_length(token->span), token->span.start);
	}
}

void parser_skip_line(struct parser *parser)
{
	bool continued = false; /* a comma was last */

	while (!parser_at(parser, TOKEN_END) && (!parser_at(parser, TOKEN_NEWLINE) || continued)) {
		if (!parser_at(parser, TOKEN_NEWLINE))
			continued = parser_at(parser, ',');
		lexer_pass(&parser->lexer, &parser->token);
	}
}

int parser_take(struct parser *parser, int kind, const char *description)
{
	if (!parser_at(parser, kind))
		return parser_fail(parser, description);
	return parser_next(parser);
}

bool span_is(struct span span, const char *text)
{
	return span.length == strlen(text) && !memcmp(span.start, text, span.length);
}

int take_name(struct parser *parser, const struct token *name, const char *reserved, char **copy)
{
	struct text_errors *errors = parser->assembly->errors;

	if (span_is(name->span, reserved))
		return text_fail(errors, name->where, "%s is built in; take another name",
				 reserved);
	if (name->span.length > IMAGE_NAME_MAX)
		return text_fail(errors, name->where, "a name of %zu characters; %d is the most",
				 name->span.length, IMAGE_NAME_MAX);
	*copy = strndup(name->span.start, name->span.length);
	return *copy ? 0 : -ENOMEM;
}

int parse_integer(struct parser *parser, const char *what, long low, long high, long *number)
{
	struct place where = parser->token.where;
	bool negative = parser_at(parser, '-');
	uint64_t most = negative ? (uint64_t)-low : (uint64_t)high;
	uint64_t size;
	char expected[80];
	int error = 0;

	if (negative || parser_at(parser, '+'))
		error = parser_next(parser);
	if (error)
		return error;
	size = parser->token.number;
	snprintf(expected, sizeof(expected), "%s, an integer from %ld to %ld", what, low, high);
	error = parser_take(parser, TOKEN_NUMBER, expected);
	if (error)
		return error;
	if (size > most)
		return text_fail(parser->assembly->errors, where,
				 "%s is an integer from %ld to %ld", what, low, high);
	*number = negative ? -(long)size : (long)size;
	return 0;
}

int parse_comma(struct parser *parser, bool *more)
{
	int error = 0;

	*more = parser_at(parser, ',');
	if (!*more)
		return 0;
	do
		error = parser_next(parser);
	while (!error && parser_at(parser, TOKEN_NEWLINE));
	return error;
}

// SPDX-License-Identifier: MIT
/* Parsing a text, line by line. */
#include <errno.h>

#include "array.h"
#include "parser.h"

/* The kind of data that WORD declares: true with it in *KIND. */
static bool declares_data(struct span word, enum data_kind *kind)
{
	for (*kind = DATA_STRING; *kind <= DATA_WORDS; ++*kind)
		if (span_is(word, data_kind_name(*kind)))
			return true;
	return false;
}

/* `NAME:`, whose colon comes next. */
static int parse_label(struct parser *parser, const struct token *name)
{
	struct assembly *assembly = parser->assembly;
	struct image *image = assembly->image;
	struct place *where = array_add(assembly->label_places, assembly->label_place_count);
	struct label *label = where ? array_add(image->labels, image->label_count) : NULL;
	int error;

	if (!label)
		return -ENOMEM;
	*where = name->where;
	label->slot = (uint32_t)image->slot_count;
	error = take_name(parser, name, LABEL_END, &label->name);
	return error ? error : parser_next(parser);
}

/* What follows the labels of a line, of which there is none unless LABELLED. */
static int parse_declaration_or_slot(struct parser *parser, const struct token *word, bool labelled)
{
	enum data_kind kind;

	if (parser_at(parser, '(') || !declares_data(word->span, &kind))
		return parse_slot(parser, word);
	if (labelled)
		return text_fail(parser->assembly->error, word->where,
				 "a label names a slot, not data");
	return parse_data(parser, kind);
}

static int parse_line(struct parser *parser)
{
	bool labelled = false;
	struct token word;
	int error;

	while (!parser_at(parser, TOKEN_NEWLINE) && !parser_at(parser, TOKEN_END)) {
		word = parser->token;
		error = parser_take(parser, TOKEN_NAME, "a label, a call or a declaration of data");
		if (error)
			return error;
		if (!parser_at(parser, ':'))
			return parse_declaration_or_slot(parser, &word, labelled);
		error = parse_label(parser, &word);
		if (error)
			return error;
		labelled = true;
	}
	return 0;
}

int parse_text(struct assembly *assembly, const char *text, size_t length)
{
	struct parser parser = { .assembly = assembly };
	int error;

	lexer_start(&parser.lexer, text, length, assembly->error);
	error = parser_next(&parser);
	while (!error && !parser_at(&parser, TOKEN_END)) {
		error = parse_line(&parser);
		if (!error && !parser_at(&parser, TOKEN_END))
			error = parser_take(&parser, TOKEN_NEWLINE, "the end of the line");
	}
	return error;
}

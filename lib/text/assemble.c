// SPDX-License-Identifier: MIT
/* From a text to an image, line by line. */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "assembly.h"
#include "parser.h"

/* ---- data ---- */

/* Appends the bytes of a literal to DATA; one byte more is kept for a NUL. */
static int append_string(struct data *data, struct span literal)
{
	unsigned char *grown = realloc(data->contents, data->size + literal.length + 1);

	if (!grown)
		return -ENOMEM;
	data->contents = grown;
	data->size += string_bytes(literal, grown + data->size);
	return 0;
}

static int parse_strings(struct parser *parser, struct data *data)
{
	bool more = true;
	int error = 0;

	while (!error && more) {
		struct token literal = parser->token;

		error = parser_take(parser, TOKEN_STRING, "a string in \" and \"");
		error = error ? error : append_string(data, literal.span);
		error = error ? error : parse_comma(parser, &more);
	}
	if (!error && data->kind == DATA_STRING)
		((unsigned char *)data->contents)[data->size++] = '\0';
	return error;
}

static int parse_one_word(struct parser *parser, struct data *data, uint32_t index)
{
	size_t count = data->size / sizeof(uint64_t);
	uint64_t *words = data->contents;

	if (!array_add(words, count))
		return -ENOMEM;
	data->contents = words;
	data->size = count * sizeof(uint64_t);
	return parse_word(parser, (struct word_place){ HOLDER_DATA, index, (uint32_t)count - 1 });
}

/* There may be none. */
static int parse_words(struct parser *parser, struct data *data, uint32_t index)
{
	bool more = !parser_at(parser, TOKEN_NEWLINE) && !parser_at(parser, TOKEN_END);
	int error = 0;

	while (!error && more) {
		if (data->size == IMAGE_DATA_MAX)
			return text_fail(parser->assembly->errors, parser->token.where,
					 "the data is larger than 1 GiB with this word");
		error = parse_one_word(parser, data, index);
		error = error ? error : parse_comma(parser, &more);
	}
	return error;
}

static int parse_buffer(struct parser *parser, uint32_t index)
{
	struct expression size;
	int error = parse_expression(parser, &size);

	if (!error)
		return assembly_set_size(parser->assembly, index, &size);
	/* Its uses are not reported as well. */
	parser->assembly->symbols.data_sources[index].sized = true;
	return error;
}

static int parse_contents(struct parser *parser, uint32_t index)
{
	struct data *data = &parser->assembly->image->data[index];

	switch (data->kind) {
	case DATA_BUFFER:
		return parse_buffer(parser, index);
	case DATA_WORDS:
		return parse_words(parser, data, index);
	default:
		return parse_strings(parser, data);
	}
}

/* Adds data that owns NAME, also when this fails. */
static int add_data(struct assembly *assembly, enum data_kind kind, char *name, struct place where)
{
	struct image *image = assembly->image;
	struct symbols *symbols = &assembly->symbols;
	struct data_source *source = array_add(symbols->data_sources, symbols->data_source_count);
	struct data *data = source ? array_add(image->data, image->data_count) : NULL;

	if (!data) {
		free(name);
		return -ENOMEM;
	}
	data->kind = kind;
	data->name = name;
	*source = (struct data_source){ where, kind != DATA_BUFFER };
	return 0;
}

/* `NAME contents` behind the word for KIND. */
static int parse_data(struct parser *parser, enum data_kind kind)
{
	struct assembly *assembly = parser->assembly;
	struct token token = parser->token;
	char *name;
	int error = parser_take(parser, TOKEN_NAME, "a name for the data");

	error = error ? error : take_name(parser, &token, "sizeof", &name);
	error = error ? error : add_data(assembly, kind, name, token.where);
	return error ? error : parse_contents(parser, (uint32_t)assembly->image->data_count - 1);
}

/* The kind of data that WORD declares: true with it in *KIND. */
static bool declares_data(struct span word, enum data_kind *kind)
{
	static const char *const words[] = {
		[DATA_STRING] = "string",
		[DATA_BYTES] = "bytes",
		[DATA_BUFFER] = "buffer",
		[DATA_WORDS] = "words",
	};

	for (*kind = DATA_STRING; *kind <= DATA_WORDS; ++*kind)
		if (span_is(word, words[*kind]))
			return true;
	return false;
}

/* ---- lines ---- */

/* `NAME:`, whose colon comes next. */
static int parse_label(struct parser *parser, const struct token *token)
{
	struct assembly *assembly = parser->assembly;
	struct image *image = assembly->image;
	struct symbols *symbols = &assembly->symbols;
	struct place *where;
	struct label *label;
	char *name;
	int error = take_name(parser, token, LABEL_END, &name);

	if (error)
		return error;
	where = array_add(symbols->label_places, symbols->label_place_count);
	label = where ? array_add(image->labels, image->label_count) : NULL;
	if (!label) {
		free(name);
		return -ENOMEM;
	}
	*where = token->where;
	*label = (struct label){ name, (uint32_t)image->slot_count };
	return parser_next(parser);
}

/* What follows the labels of a line, if there are any: LABELLED. */
static int parse_declaration_or_slot(struct parser *parser, const struct token *word, bool labelled)
{
	enum data_kind kind;

	if (parser_at(parser, '(') || !declares_data(word->span, &kind))
		return parse_slot(parser, word);
	if (labelled)
		return text_fail(parser->assembly->errors, word->where,
				 "a label names a slot, not data");
	return parse_data(parser, kind);
}

static int parse_statement(struct parser *parser)
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

/*
 * Continues after a line with a mistake.  The line counts as a slot unless it declares data, so
 * that a label before it names this place and not the next slot.
 */
static int recover(struct parser *parser, const struct image *image, size_t slots, size_t data)
{
	parser_skip_line(parser);
	if (image->slot_count == IMAGE_SLOTS_MAX)
		return -EINVAL;
	if (image->slot_count > slots || image->data_count > data)
		return 0;
	return add_slot(parser, parser->token.where);
}

/* A line, and those in which it goes on after a comma. */
static int parse_line(struct parser *parser)
{
	const struct image *image = parser->assembly->image;
	size_t slots = image->slot_count;
	size_t data = image->data_count;
	int error = parser_next(parser);

	error = error ? error : parse_statement(parser);
	if (!error && !parser_at(parser, TOKEN_NEWLINE) && !parser_at(parser, TOKEN_END))
		error = parser_fail(parser, "the end of the line");
	return error == -EINVAL ? recover(parser, image, slots, data) : error;
}

static int parse_lines(struct parser *parser)
{
	int error = 0;

	while (!error && !parser_at(parser, TOKEN_END) && !parser->assembly->errors->more)
		error = parse_line(parser);
	return error;
}

/* ---- the whole text ---- */

static int assemble(struct assembly *assembly, const char *text, size_t length)
{
	struct parser parser = { .assembly = assembly };
	int error = lexer_start(&parser.lexer, text, length, assembly->errors);

	error = error ? error : parse_lines(&parser);
	error = error ? error : assembly_resolve(assembly);
	if (error != -ENOMEM && assembly->errors->count)
		error = -EINVAL;
	return error;
}

int image_assemble(const char *text, size_t length, struct image **out, struct text_errors *errors)
{
	struct assembly assembly;
	int error;

	errors->count = 0;
	errors->more = false;
	error = assembly_start(&assembly, errors);
	/* An empty text may be a null pointer, with which no arithmetic is defined. */
	error = error ? error : assemble(&assembly, length ? text : "", length);
	assembly_free(&assembly);
	if (!error) {
		*out = assembly.image;
		return 0;
	}
	text_errors_sort(errors);
	image_free(assembly.image);
	return error;
}

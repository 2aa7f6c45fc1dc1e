// SPDX-License-Identifier: MIT
/* Parsing declarations of data. */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "parser.h"

/* The bytes of a literal, behind those that DATA has; one byte more is kept for a NUL. */
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

/* Possibly none. */
static int parse_words(struct parser *parser, struct data *data, uint32_t index)
{
	bool more = !parser_at(parser, TOKEN_NEWLINE) && !parser_at(parser, TOKEN_END);
	int error = 0;

	while (!error && more) {
		if (data->size == IMAGE_DATA_MAX)
			return text_fail(parser->assembly->error, parser->token.where,
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

	return error ? error : assembly_set_size(parser->assembly, index, &size);
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

int parse_data(struct parser *parser, enum data_kind kind)
{
	struct assembly *assembly = parser->assembly;
	struct image *image = assembly->image;
	struct token name = parser->token;
	struct data_source *source = array_add(assembly->data_sources, assembly->data_source_count);
	struct data *data = source ? array_add(image->data, image->data_count) : NULL;
	int error;

	if (!data)
		return -ENOMEM;
	data->kind = kind;
	*source = (struct data_source){ name.where, kind != DATA_BUFFER };
	error = parser_take(parser, TOKEN_NAME, "a name for the data");
	error = error ? error : take_name(parser, &name, "sizeof", &data->name);
	return error ? error : parse_contents(parser, (uint32_t)image->data_count - 1);
}

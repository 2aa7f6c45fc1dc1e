/* SPDX-License-Identifier: MIT */
/* A text cut into tokens. */
#ifndef LEXER_H
#define LEXER_H

#include <stdint.h>

#include "errors.h"

/* Punctuation of one character is its own kind. */
enum token_kind {
	TOKEN_NAME = 256,
	TOKEN_NUMBER, /* a character constant too */
	TOKEN_STRING,
	TOKEN_ARROW,
	TOKEN_SHIFT,
	TOKEN_NEWLINE,
	TOKEN_END
};

struct token {
	int kind;
	struct place where;
	struct span span; /* of a string: what is between the quotes, its escapes valid */
	uint64_t number;
};

struct lexer {
	const char *next;
	const char *end;
	struct place where;
	struct text_errors *errors;
};

/*
 * Starts at the beginning of TEXT.  Returns 0, or -EINVAL when TEXT is not UTF-8 or holds control
 * characters other than tab and the end of a line.
 */
int lexer_start(struct lexer *lexer, const char *text, size_t length, struct text_errors *errors);

/* Sets *TOKEN to the next token; 0 or -EINVAL.  At the end it is TOKEN_END again and again. */
int lexer_next(struct lexer *lexer, struct token *token);

/* lexer_next() past mistakes, without a complaint. */
void lexer_pass(struct lexer *lexer, struct token *token);

/* Writes the bytes that a string token stands for, at most span.length, and returns how many. */
size_t string_bytes(struct span string, unsigned char *bytes);

#endif /* LEXER_H */

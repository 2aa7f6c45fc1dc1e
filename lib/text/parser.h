/* SPDX-License-Identifier: MIT */
/*
 * The parser: one token ahead, one function for each construct of ferry-asm(5).
 * Every function returns 0, -EINVAL with the error filled in, or -ENOMEM, and
 * leaves behind what it parsed.
 */
#ifndef PARSER_H
#define PARSER_H

#include "assembly.h"
#include "lexer.h"

struct parser {
	struct lexer lexer;
	struct token token; /* the next one */
	unsigned int nesting;
	struct assembly *assembly;
};

/* ---- constructs ---- */

/* A new slot, all zeroes, that is written at WHERE. */
int add_slot(struct parser *parser, struct place where);

/* A slot whose first word was WORD. */
int parse_slot(struct parser *parser, const struct token *word);

int parse_expression(struct parser *parser, struct expression *expression);

/* An expression, which the word at PLACE becomes. */
int parse_word(struct parser *parser, struct word_place place);

/* LABEL or a slot's number; WHERE is that of the sign before it. */
int parse_slot_name(struct parser *parser, struct slot_name *name);

/* An integer with or without a sign, from LOW to HIGH; WHAT names it in the message. */
int parse_integer(struct parser *parser, const char *what, long low, long high, long *number);

/* A comma, after which the line may end: *MORE is set if there was one. */
int parse_comma(struct parser *parser, bool *more);

/* ---- tokens ---- */

int parser_next(struct parser *parser);
bool parser_at(const struct parser *parser, int kind);

/* Passes everything up to the end of the line, which is the next token then. */
void parser_skip_line(struct parser *parser);

/* Takes a token of KIND; DESCRIPTION says what the message expected. */
int parser_take(struct parser *parser, int kind, const char *description);

/* Complains that what comes next is not DESCRIPTION. */
int parser_fail(struct parser *parser, const char *description);

bool span_is(struct span span, const char *text);

/* The name in NAME as a string of its own in *COPY; it must not be RESERVED. */
int take_name(struct parser *parser, const struct token *name, const char *reserved, char **copy);

#endif /* PARSER_H */

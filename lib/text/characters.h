/* SPDX-License-Identifier: MIT */
/* What may stand in a text. */
#ifndef CHARACTERS_H
#define CHARACTERS_H

#include <stdbool.h>

#include "error.h"

/* 0 when TEXT is UTF-8 without control characters but tab and newline, else -EINVAL. */
int text_check(const char *text, size_t length, struct text_error *error);

/* ASCII only, whatever the locale. */
static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool is_name_character(char c)
{
	return is_letter(c) || is_digit(c) || c == '_';
}

/* The value of a digit in a base up to 36; large for what is none. */
static inline int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	return is_letter(c) ? (c | ' ') - 'a' + 10 : 99;
}

#endif /* CHARACTERS_H */

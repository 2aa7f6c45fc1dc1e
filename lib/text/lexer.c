// SPDX-License-Identifier: MIT
/* A text cut into tokens. */
#include <stdbool.h>
#include <string.h>

#include "lexer.h"

#define SHOWN_MAX 40 /* of a word in a message */

/* ---- what a text may hold ---- */

#define DELETE 0x7f
#define SURROGATE_FIRST 0xd800
#define SURROGATE_LAST 0xdfff
#define CODE_POINT_LAST 0x10ffff

/* The length of the UTF-8 sequence at BYTES, which is not ASCII, or 0 when it is none. */
static size_t sequence_length(const unsigned char *bytes, size_t left)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
	uint32_t code;
	size_t i;

	if (bytes[0] < 0xc0 || bytes[0] >= 0xf8 || length > left)
		return 0;
	code = bytes[0] & (0x7fU >> length);
	for (i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < lowest[length] || code > CODE_POINT_LAST)
		return 0;
	return code >= SURROGATE_FIRST && code <= SURROGATE_LAST ? 0 : length;
}

/* How many bytes at BYTES, which begin no character, are one mistake. */
static size_t broken_length(const unsigned char *bytes, size_t left)
{
	size_t length = 1;

	while (length < left && (bytes[length] & 0xc0) == 0x80)
		length++;
	return length;
}

/* The length of the character at BYTES, or 0 when it may not stand in a text. */
static size_t character_length(const unsigned char *bytes, size_t left)
{
	if (bytes[0] > DELETE)
		return sequence_length(bytes, left);
	if (bytes[0] == '\r')
		return left > 1 && bytes[1] == '\n';
	return bytes[0] == '\t' || bytes[0] == '\n' || (bytes[0] >= ' ' && bytes[0] != DELETE);
}

/* By its byte-order mark, whose bytes never occur in UTF-8. */
static bool is_utf16(const unsigned char *bytes, size_t length)
{
	return length > 1 && (!memcmp(bytes, "\xff\xfe", 2) || !memcmp(bytes, "\xfe\xff", 2));
}

static int check_characters(const char *text, size_t length, struct text_errors *errors)
{
	const unsigned char *bytes = (const unsigned char *)text;
	struct place where = { 1, 1 };
	size_t i = 0;
	size_t step;

	if (is_utf16(bytes, length))
		return text_fail(errors, where, "the text is UTF-16; save it as UTF-8");
	while (i < length && !errors->more) {
		step = character_length(bytes + i, length - i);
		if (!step) {
			text_complain(errors, where,
				      "byte 0x%02x is not text; write it as \\x%02x in a string",
				      bytes[i], bytes[i]);
			step = broken_length(bytes + i, length - i);
		}
		where.column++;
		if (bytes[i] == '\n')
			where = (struct place){ where.line + 1, 1 };
		i += step;
	}
	return errors->count ? -EINVAL : 0;
}

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define MARK_LENGTH (sizeof(BYTE_ORDER_MARK) - 1)

static bool starts_with_mark(const char *text, const char *end)
{
	return (size_t)(end - text) >= MARK_LENGTH && !memcmp(text, BYTE_ORDER_MARK, MARK_LENGTH);
}

/* ---- characters ---- */

/* ASCII only, whatever the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_character(char c)
{
	return is_letter(c) || is_digit(c) || c == '_';
}

/* The value of a digit in a base up to 36; large for any other character. */
static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	return is_letter(c) ? (c | ' ') - 'a' + 10 : 99;
}

static void advance(struct lexer *lexer)
{
	const unsigned char passed = (unsigned char)*lexer->next++;
	bool inside = lexer->next < lexer->end && (*lexer->next & 0xc0) == 0x80;

	if (passed == '\n')
		lexer->where = (struct place){ lexer->where.line + 1, 1 };
	else if (!inside)
		lexer->where.column++;
}

static void skip_blanks(struct lexer *lexer)
{
	while (lexer->next < lexer->end && strchr(" \t\r", *lexer->next))
		advance(lexer);
	if (lexer->next < lexer->end && *lexer->next == '#')
		while (lexer->next < lexer->end && *lexer->next != '\n')
			advance(lexer);
}

static void take_word(struct lexer *lexer, struct token *token)
{
	while (lexer->next < lexer->end && is_name_character(*lexer->next))
		advance(lexer);
	token->span.length = (size_t)(lexer->next - token->span.start);
}

static int take_number(struct lexer *lexer, struct token *token)
{
	const struct span *span = &token->span;
	int shown = SHOWN_MAX;
	int base = 10;
	size_t i = 0;

	take_word(lexer, token);
	token->kind = TOKEN_NUMBER;
	if (span->length > 1 && span->start[0] == '0') {
		base = (span->start[1] | ' ') == 'x' ? 16 : 8;
		i = base == 16 ? 2 : 1;
	}
	if (span->length < SHOWN_MAX)
		shown = (int)span->length;
	if (i == span->length)
		return text_fail(lexer->errors, token->where, "no digits after 0x");
	for (; i < span->length; i++) {
		int digit = digit_value(span->start[i]);

		if (digit >= base)
			return text_fail(lexer->errors, token->where,
					 "%.*s is not a number in base %d", shown, span->start,
					 base);
		if (__builtin_mul_overflow(token->number, (uint64_t)base, &token->number) ||
		    __builtin_add_overflow(token->number, (uint64_t)digit, &token->number))
			return text_fail(lexer->errors, token->where,
					 "integer overflow: %.*s does not fit in 64 bits", shown,
					 span->start);
	}
	return 0;
}

/* The byte of a one-letter escape, or -1. */
static int letter_escape(char letter)
{
	static const char letters[] = "abefnrtv\\\"'";
	static const char bytes[] = "\a\b\033\f\n\r\t\v\\\"'";
	const char *found = letter ? strchr(letters, letter) : NULL;

	return found ? bytes[found - letters] : -1;
}

/* The value of up to MOST digits in BASE at TEXT; *LENGTH is how many there are. */
static unsigned int escape_digits(const char *text, const char *end, int base, size_t most,
				  size_t *length)
{
	unsigned int value = 0;

	for (*length = 0; *length < most && text + *length < end; ++*length) {
		int digit = digit_value(text[*length]);

		if (digit >= base)
			break;
		value = value * (unsigned int)base + (unsigned int)digit;
	}
	return value;
}

/*
 * The byte that the escape at TEXT, behind its backslash, stands for, with its
 * length in *LENGTH; or -1 when it is none.
 */
static int escape_byte(const char *text, const char *end, size_t *length)
{
	unsigned int value;

	*length = 1;
	if (text == end)
		return -1;
	if (*text == 'x') {
		value = escape_digits(text + 1, end, 16, 2, length);
		return (*length)++ == 2 ? (int)value : -1;
	}
	if (digit_value(*text) < 8) {
		value = escape_digits(text, end, 8, 3, length);
		return value <= 0xff ? (int)value : -1;
	}
	return letter_escape(*text);
}

/* Passes one character of a string, or one escape, whose byte is *BYTE. */
static int take_character(struct lexer *lexer, unsigned char *byte)
{
	struct place where = lexer->where;
	size_t length;
	int escaped;

	*byte = (unsigned char)*lexer->next;
	advance(lexer);
	if (*byte != '\\')
		return 0;
	escaped = escape_byte(lexer->next, lexer->end, &length);
	if (escaped < 0)
		return text_fail(lexer->errors, where,
				 "unknown escape; write \\n, \\t, \\\", \\\\, \\0 or \\xHH");
	*byte = (unsigned char)escaped;
	while (length--)
		advance(lexer);
	return 0;
}

static bool at_quote(const struct lexer *lexer, char quote)
{
	return lexer->next < lexer->end && *lexer->next == quote;
}

static bool at_line_end(const struct lexer *lexer)
{
	return lexer->next == lexer->end || *lexer->next == '\n' || *lexer->next == '\r';
}

static int take_string(struct lexer *lexer, struct token *token)
{
	unsigned char byte;
	int error;

	advance(lexer);
	token->kind = TOKEN_STRING;
	token->span.start = lexer->next;
	while (!at_quote(lexer, '"')) {
		if (at_line_end(lexer))
			return text_fail(lexer->errors, token->where,
					 "unterminated string: no closing \" on this line");
		error = take_character(lexer, &byte);
		if (error)
			return error;
	}
	token->span.length = (size_t)(lexer->next - token->span.start);
	advance(lexer);
	return 0;
}

static int take_character_constant(struct lexer *lexer, struct token *token)
{
	unsigned char byte;
	int error;

	advance(lexer);
	token->kind = TOKEN_NUMBER;
	if (at_line_end(lexer) || at_quote(lexer, '\''))
		return text_fail(lexer->errors, token->where, "no character between the quotes");
	error = take_character(lexer, &byte);
	if (error)
		return error;
	if (!at_quote(lexer, '\''))
		return text_fail(lexer->errors, token->where,
				 "a character constant is one byte between ' and '");
	advance(lexer);
	token->number = byte;
	token->span.length = (size_t)(lexer->next - token->span.start);
	return 0;
}

static int take_punctuation(struct lexer *lexer, struct token *token)
{
	static const struct {
		char text[3];
		int kind;
	} pairs[] = { { "->", TOKEN_ARROW }, { "<<", TOKEN_SHIFT } };
	const char *start = lexer->next;
	size_t i;

	token->span.length = 1;
	token->kind = (unsigned char)*start;
	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (lexer->end - start < 2 || memcmp(start, pairs[i].text, 2) != 0)
			continue;
		token->kind = pairs[i].kind;
		token->span.length = 2;
		advance(lexer);
		advance(lexer);
		return 0;
	}
	if (starts_with_mark(start, lexer->end))
		return text_fail(lexer->errors, token->where,
				 "a byte-order mark may stand at the start of the text only");
	if (*start & 0x80)
		return text_fail(lexer->errors, token->where,
				 "a letter outside ASCII may stand in strings and comments only");
	if (!strchr("&()+,-.:=|~$", *start))
		return text_fail(lexer->errors, token->where, "'%c' has no meaning here", *start);
	advance(lexer);
	return 0;
}

/* ---- tokens ---- */

int lexer_start(struct lexer *lexer, const char *text, size_t length, struct text_errors *errors)
{
	if (starts_with_mark(text, text + length)) {
		text += MARK_LENGTH;
		length -= MARK_LENGTH;
	}
	*lexer = (struct lexer){ text, text + length, { 1, 1 }, errors };
	return check_characters(text, length, errors);
}

int lexer_next(struct lexer *lexer, struct token *token)
{
	skip_blanks(lexer);
	*token = (struct token){ TOKEN_END, lexer->where, { lexer->next, 0 }, 0 };
	if (lexer->next == lexer->end)
		return 0;
	if (*lexer->next == '\n') {
		token->kind = TOKEN_NEWLINE;
		advance(lexer);
		return 0;
	}
	if (is_digit(*lexer->next))
		return take_number(lexer, token);
	if (is_name_character(*lexer->next)) {
		token->kind = TOKEN_NAME;
		take_word(lexer, token);
		return 0;
	}
	if (*lexer->next == '"')
		return take_string(lexer, token);
	if (*lexer->next == '\'')
		return take_character_constant(lexer, token);
	return take_punctuation(lexer, token);
}

void lexer_pass(struct lexer *lexer, struct token *token)
{
	struct text_errors *errors = lexer->errors;
	const char *before = lexer->next;
	struct text_errors ignored = { 0 };

	lexer->errors = &ignored;
	if (lexer_next(lexer, token) && lexer->next == before)
		advance(lexer); /* a character without a meaning stays where it is */
	lexer->errors = errors;
}

size_t string_bytes(struct span string, unsigned char *bytes)
{
	const char *next = string.start;
	const char *end = next + string.length;
	size_t count = 0;
	size_t length;

	while (next < end) {
		if (*next != '\\') {
			bytes[count++] = (unsigned char)*next++;
			continue;
		}
		next++;
		bytes[count++] = (unsigned char)escape_byte(next, end, &length);
		next += length;
	}
	return count;
}

// SPDX-License-Identifier: MIT
#include "du_messages.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "common/memory.h"
#include "common/messages.h"

void du_complain(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("du: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int du_see_help(void)
{
	fputs("Try 'du --help' for more information.\n", stderr);
	return EXIT_FOUND;
}

/* ---- names in messages ---- */

/* The bytes of the printable character that TEXT begins with, or 0. */
static size_t printable(const char *text, mbstate_t *state)
{
	wchar_t character;
	size_t length = mbrtowc(&character, text, strlen(text), state);

	if (length == 0 || length > strlen(text)) {
		memset(state, 0, sizeof(*state));
		return 0;
	}
	return iswprint((wint_t)character) ? length : 0;
}

static bool is_printable(const char *text)
{
	mbstate_t state = { 0 };
	size_t length;

	for (; *text; text += length) {
		length = printable(text, &state);
		if (!length)
			return false;
	}
	return true;
}

static char *put(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

/* A byte as $'...' has it. */
static char *put_escape(char *at, char byte)
{
	static const char named[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
	const char *found = strchr(named, byte);

	*at++ = '\\';
	if (found) {
		*at++ = letters[found - named];
		return at;
	}
	*at++ = (char)('0' + ((unsigned char)byte >> 6));
	*at++ = (char)('0' + ((unsigned char)byte >> 3 & 7));
	*at++ = (char)('0' + ((unsigned char)byte & 7));
	return at;
}

/* 'NAME', with 'a'$'\n''b' for what cannot be printed. */
static const char *quote_parts(const char *name)
{
	/* At most a byte becomes '$'\ooo''. */
	char *text = keep(10 * strlen(name) + 3, 1), *at = text;
	mbstate_t state = { 0 };
	bool escaped = false;
	size_t length;

	*at++ = '\'';
	while (*name) {
		length = printable(name, &state);
		if (!length) {
			at = escaped ? at : put(at, "'$'");
			at = put_escape(at, *name++);
			escaped = true;
			continue;
		}
		if (*name == '\'') /* the first quote ends what is open, of either kind */
			at = put(at, "'\\'");
		else if (escaped)
			at = put(at, "''");
		escaped = false;
		memcpy(at, name, length);
		at += length;
		name += length;
	}
	*at++ = '\'';
	*at = '\0';
	return text;
}

const char *du_quoted(const char *name)
{
	if (strchr(name, '\'') && is_printable(name) && !strpbrk(name, "\"$`\\!"))
		return keep_text("\"%s\"", name);
	return quote_parts(name);
}

const char *du_quoted_if_needed(const char *name)
{
	if (*name && is_printable(name) && !strpbrk(name, " !\"$&'()*;<=>?[\\]^`{|}#~:"))
		return name;
	return du_quoted(name);
}

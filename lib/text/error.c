// SPDX-License-Identifier: MIT
/* Complaints about a text or an object. */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

void text_complain(struct text_error *error, struct place where, const char *format, ...)
{
	va_list arguments;

	error->line = where.line;
	error->column = where.column;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
}

// SPDX-License-Identifier: MIT
/* The list of mistakes in a text. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "errors.h"

static bool is_known(const struct text_errors *errors, struct place where)
{
	size_t i;

	for (i = 0; i < errors->count; i++)
		if (errors->list[i].line == where.line && errors->list[i].column == where.column)
			return true;
	return false;
}

void text_complain(struct text_errors *errors, struct place where, const char *format, ...)
{
	struct text_error *error;
	va_list arguments;

	if (is_known(errors, where))
		return;
	if (errors->count == TEXT_ERRORS_MAX) {
		errors->more = true;
		return;
	}
	error = &errors->list[errors->count++];
	error->line = where.line;
	error->column = where.column;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof(error->message), format, arguments);
	va_end(arguments);
}

static int compare(const void *a, const void *b)
{
	const struct text_error *left = a;
	const struct text_error *right = b;

	if (left->line != right->line)
		return left->line < right->line ? -1 : 1;
	return (left->column > right->column) - (left->column < right->column);
}

void text_errors_sort(struct text_errors *errors)
{
	qsort(errors->list, errors->count, sizeof(*errors->list), compare);
}

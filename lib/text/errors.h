/* SPDX-License-Identifier: MIT */
/* Places and parts of a text, and the mistakes found there. */
#ifndef ERRORS_H
#define ERRORS_H

#include <errno.h>
#include <stddef.h>

#include "text.h"

/* Both count from 1. */
struct place {
	unsigned int line;
	unsigned int column;
};

/* A part of the text. */
struct span {
	const char *start;
	size_t length;
};

/* How many characters of NAME a message shows. */
static inline int shown_length(struct span name)
{
	const size_t most = 50;

	return (int)(name.length < most ? name.length : most);
}

/*
 * Adds a mistake to ERRORS, unless one is already known at the same place.  A message
 * that is too long is cut.
 */
void text_complain(struct text_errors *errors, struct place where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Complains; the value is -EINVAL.  A macro, so that analysers see what the value is. */
#define text_fail(errors, ...) (text_complain(errors, __VA_ARGS__), -EINVAL)

/* Orders ERRORS by their places. */
void text_errors_sort(struct text_errors *errors);

#endif /* ERRORS_H */

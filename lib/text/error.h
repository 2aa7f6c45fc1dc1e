/* SPDX-License-Identifier: MIT */
/* Places in a text, and complaints about them. */
#ifndef ERROR_H
#define ERROR_H

#include <errno.h>

#include "text.h"

/* Both from 1; 0 and 0 where there is no text. */
struct place {
	unsigned int line;
	unsigned int column;
};

#define NOWHERE ((struct place){ 0, 0 })

/* Fills in ERROR.  A message that is too long is cut. */
void text_complain(struct text_error *error, struct place where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Complains; the value is -EINVAL.  A macro, so that analysers see what the value is. */
#define text_fail(error, ...) (text_complain(error, __VA_ARGS__), -EINVAL)

#endif /* ERROR_H */

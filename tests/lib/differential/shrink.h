/* SPDX-License-Identifier: MIT */
/* Makes a failing program as small as possible. */
#ifndef SHRINK_H
#define SHRINK_H

#include <stdbool.h>

#include "program.h"

/* Whether PROGRAM fails; CONTEXT belongs to the caller. */
typedef bool (*fails_fn)(const struct program *program, void *context);

/* Shrinks PROGRAM, for which FAILS is true, until no slot and no field can be removed. */
void shrink(struct program *program, fails_fn fails, void *context);

#endif /* SHRINK_H */

/* SPDX-License-Identifier: MIT */
/* Making a failing program as small as it can be and still fail. */
#ifndef SHRINK_H
#define SHRINK_H

#include <stdbool.h>

#include "program.h"

/* Whether PROGRAM fails; CONTEXT is the caller's. */
typedef bool (*fails_fn)(const struct program *program, void *context);

/* Shrinks PROGRAM, which FAILS, until no slot and no field of it can go. */
void shrink(struct program *program, fails_fn fails, void *context);

#endif /* SHRINK_H */

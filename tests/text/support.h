/* SPDX-License-Identifier: MIT */
/* What the tests of the text form share. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/text/text.h"

/* The image of TEXT, which must assemble. */
struct image *assemble(const char *text);

/* The disassembly of IMAGE, to free(). */
char *disassemble(const struct image *image);

/* IMAGE must come back byte for byte from its object and from its disassembly. */
void assert_round_trip(const struct image *image);

/* The contents of a file of the source tree with a NUL behind them, to free(). */
char *read_source(const char *directory, const char *name);

#endif /* SUPPORT_H */

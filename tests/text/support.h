/* SPDX-License-Identifier: MIT */
/* What the tests of the text form share. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "lib/text/text.h"
#include "tests/unit.h"

/* The image of TEXT, which must assemble. */
struct image *assemble(const char *text);

/* image_check_slot() must find nothing in any slot of IMAGE. */
void assert_no_warnings(const struct image *image);

/* The contents of a file of the source tree with a NUL behind them, to free(). */
char *read_source(const char *directory, const char *name);

#endif /* SUPPORT_H */

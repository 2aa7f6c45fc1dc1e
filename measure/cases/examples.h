/* SPDX-License-Identifier: MIT */
/* The example programs that `ferry bench apps` and `ferry bench servers` run. */
#ifndef EXAMPLES_H
#define EXAMPLES_H

#include <stdbool.h>

#include "measure/harness/bench.h"

/** Whether --app names NAME, or nothing. */
bool is_wanted(const struct settings *settings, const char *name);

/** The path of example NAME, in the build tree of this program or installed with it, or NULL. */
char *find_example(const char *name);

#endif /* EXAMPLES_H */

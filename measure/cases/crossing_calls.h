/* SPDX-License-Identifier: MIT */
/* The calls of `ferry bench crossing`, each in a loop of its own. */
#ifndef CROSSING_CALLS_H
#define CROSSING_CALLS_H

#include "measure/harness/rows.h"

/* The first is the empty loop that all of them share. */
extern const struct kind crossing_kinds[];
extern const size_t crossing_kind_count;

/** Opens the files that some of them use; where one is not there, these calls are missing. */
void open_crossing_files(void);

void close_crossing_files(void);

#endif /* CROSSING_CALLS_H */

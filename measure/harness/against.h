/* SPDX-License-Identifier: MIT */
/* A run beside an earlier one. */
#ifndef AGAINST_H
#define AGAINST_H

#include <jansson.h>

/** The earlier run in the file PATH, or NULL after complaining. */
json_t *read_run(const char *path);

/** What both runs measured, as ferry-bench(5) has it under "against". */
json_t *compare_runs(const char *path, const json_t *before, const json_t *now);

void print_comparison(const json_t *against);

/** Prints what makes the two runs hard to compare: another machine, other settings. */
void print_differences(const json_t *before, const json_t *now);

#endif /* AGAINST_H */

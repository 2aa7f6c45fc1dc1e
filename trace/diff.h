/* SPDX-License-Identifier: MIT */
/* Two reports of ferry trace in JSON, compared. */
#ifndef TRACE_DIFF_H
#define TRACE_DIFF_H

#include <stdbool.h>

/**
 * Prints what the report in the file AFTER has more or less of than that in BEFORE, as far as it
 * is more than PERCENT and than the errors.  *WORSE: some of it is more.  Returns 0, or -errno
 * after complaining.
 */
int diff_traces(const char *before, const char *after, double percent, bool *worse);

#endif /* TRACE_DIFF_H */

/* SPDX-License-Identifier: MIT */
/* One line on standard error that shows how far a measurement is; on a terminal only. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

/** Begins to show how many of TOTAL steps are done; WHAT stays the caller's. */
void progress_begin(const char *what, size_t total);

/** DONE steps are done.  Writes at most ten times a second. */
void progress_at(size_t done);

/** Removes the line. */
void progress_end(void);

#endif /* PROGRESS_H */

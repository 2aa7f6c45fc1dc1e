/* SPDX-License-Identifier: MIT */
/* The names of calls and files. */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include <stdbool.h>

/** The name of call NR, which may be CALL_OTHER; kept. */
const char *name_of_call(int nr);

/** Whether NAME is one of NAMES, which end with NULL. */
bool is_among(const char *name, const char *const names[]);

/** Whether PATH is that of a device; files in shared memory lie beside them. */
bool is_device(const char *path);

#endif /* TRACE_NAMES_H */

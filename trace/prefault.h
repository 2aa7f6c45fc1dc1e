/* SPDX-License-Identifier: MIT */
#ifndef TRACE_PREFAULT_H
#define TRACE_PREFAULT_H

#include "costs.h"

/** What mapping memory ahead saves for each page. */
struct way measure_prefault(void);

#endif /* TRACE_PREFAULT_H */

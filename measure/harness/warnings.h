/* SPDX-License-Identifier: MIT */
/* What a careful experimenter would say about a run. */
#ifndef WARNINGS_H
#define WARNINGS_H

#include "bench.h"

/** Adds the warnings that the finished document gives cause for. */
void add_warnings(struct run *run);

#endif /* WARNINGS_H */

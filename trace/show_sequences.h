/* SPDX-License-Identifier: MIT */
/* The parts of the report about sequences and what other ways of making their calls save. */
#ifndef TRACE_SHOW_SEQUENCES_H
#define TRACE_SHOW_SEQUENCES_H

#include "trace.h"

void show_sequences(const struct trace *trace);
void show_savings(const struct trace *trace);

#endif /* TRACE_SHOW_SEQUENCES_H */

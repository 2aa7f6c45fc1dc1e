/* SPDX-License-Identifier: MIT */
/* The collector that works everywhere: ptrace(2), which stops a thread twice in each call. */
#ifndef TRACE_PTRACE_H
#define TRACE_PTRACE_H

#include "call.h"
#include "collect.h"

/**
 * Traces TARGET with all threads and children until it ends, or until SIGINT or SIGTERM.  A
 * program that was started gets the signal, too; the second one leaves it to itself.  Returns 0, or
 * -errno after complaining.
 */
int collect_with_ptrace(const struct target *target, const struct observer *observer,
			struct collected *collected);

#endif /* TRACE_PTRACE_H */

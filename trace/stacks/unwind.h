/* SPDX-License-Identifier: MIT */
/* The callers of a stack and their names. */
#ifndef TRACE_STACKS_UNWIND_H
#define TRACE_STACKS_UNWIND_H

#include "site.h"
#include "stack.h"

/** The frames of STACK from the innermost on, as far as they are known: up to MOST. */
size_t unwind(const struct user_stack *stack, struct frame frames[], size_t most);

/** Frees what it keeps of one process for the next stack. */
void unwind_end(void);

#endif /* TRACE_STACKS_UNWIND_H */

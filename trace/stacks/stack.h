/* SPDX-License-Identifier: MIT */
/* The top of a thread's stack in a call, from which its callers are found. */
#ifndef TRACE_STACKS_STACK_H
#define TRACE_STACKS_STACK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../bpf/stack.h"
#include "../call.h"

/* As many registers as DWARF numbers: see STACK_REGISTERS. */
struct user_stack {
	pid_t process;
	uint64_t ns;	 /* when, CLOCK_MONOTONIC */
	uint32_t stands; /* for so many calls */
	uint64_t pc, sp;
	uint64_t registers[STACK_REGISTERS];
	size_t size;
	unsigned char bytes[]; /* of the memory from SP on */
};

/** The stack of THREAD of PROCESS, which is stopped: to free(), or NULL where it cannot be read. */
struct user_stack *stack_read(pid_t process, pid_t thread);

/** NULL, or why callers cannot be found: a sentence without its end. */
const char *stacks_missing(void);

#endif /* TRACE_STACKS_STACK_H */

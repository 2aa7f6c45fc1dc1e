/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Of which calls the stack is taken, and what of it: the kernel decides as we do. */
#ifndef TRACE_BPF_STACK_H
#define TRACE_BPF_STACK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Of each kind of call, the first and then one in so many, which is prime: a program with a loop
 * seldom meets it in the same turn each time.
 */
#define STACKS_FIRST 32
#define STACKS_EVERY 31

#define STACK_PART 4096 /* bytes: no page is smaller */
#define STACK_ROOM (2 * STACK_PART)

/* As DWARF numbers them; what is not among them, as the flags, is no part of unwinding. */
#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
#define STACK_REGISTERS 17
#else
#define STACK_REGISTERS 32
#endif

/** For how many calls the stack of call NUMBER of its kind, from 0, stands: 0 if it is not taken.
 */
static inline uint32_t stack_stands_for(uint32_t number)
{
	if (number < STACKS_FIRST)
		return 1;
	return number % STACKS_EVERY ? 0 : STACKS_EVERY;
}

#endif /* TRACE_BPF_STACK_H */

/* SPDX-License-Identifier: MIT */
/*
 * Stacks of user-level threads.  Only what has been touched takes memory.  Below each one lies a
 * guard that is as wide as the kernel's below ordinary stacks.  Free stacks are kept for reuse.
 */
#ifndef FLEXSC_STACK_H
#define FLEXSC_STACK_H

#include <stddef.h>

#define DEFAULT_STACK (256UL << 10)
#define MIN_STACK (16UL << 10)
#define MAX_STACK (1UL << 30)

/* Lies at the upper end of its stack. */
struct stack {
	struct stack *next; /* of those that are free */
	char *bottom;	    /* the lowest address that may be used */
	unsigned long number;
} __attribute__((__aligned__(64)));

/* One thread at a time may use it. */
struct stack_pool {
	size_t guard, size; /* of each stack: whole pages */
	unsigned long made;
	struct stack *free;
	struct block *blocks; /* mappings of several stacks; the first one has room for more */
};

/** For stacks of SIZE bytes, MIN_STACK to MAX_STACK. */
void ferry__stack_pool_init(struct stack_pool *pool, size_t size);

/** A stack, or NULL when out of memory or of mappings. */
struct stack *ferry__stack_get(struct stack_pool *pool);

/** Where the stack begins, growing down: a multiple of 64. */
char *ferry__stack_top(struct stack *stack);

void ferry__stack_put(struct stack_pool *pool, struct stack *stack);

/** Unmaps all stacks: none is in use. */
void ferry__stack_pool_empty(struct stack_pool *pool);

#endif /* FLEXSC_STACK_H */

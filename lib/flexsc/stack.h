/* SPDX-License-Identifier: MIT */
/* Stacks of user-level threads, with a guard page below; free ones are kept for reuse. */
#ifndef FLEXSC_STACK_H
#define FLEXSC_STACK_H

#define STACK_SIZE 65536UL

/* Lies at the upper end of its stack. */
struct stack {
	struct stack *next; /* of those that are free */
	unsigned long number;
} __attribute__((__aligned__(64)));

/* One thread at a time may use it. */
struct stack_pool {
	struct stack *free;
	unsigned long made;
};

/** A stack, or NULL when out of memory. */
struct stack *ferry__stack_get(struct stack_pool *pool);

/** Where the stack begins, growing down: a multiple of 64. */
char *ferry__stack_top(struct stack *stack);

/** The lowest address that may be used. */
char *ferry__stack_bottom(struct stack *stack);

void ferry__stack_put(struct stack_pool *pool, struct stack *stack);

/** Unmaps the stacks that are free. */
void ferry__stack_pool_empty(struct stack_pool *pool);

#endif /* FLEXSC_STACK_H */

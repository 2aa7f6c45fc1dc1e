// SPDX-License-Identifier: MIT
#include "stack.h"

#include <stddef.h>
#include <sys/mman.h>

#include "switch.h"

#define GUARD 4096UL

/*
 * Stacks are whole pages apart, so the hot memory at their tops would compete for a few sets of
 * the cache.  Each therefore begins a little lower than the one before.
 */
#define COLOUR 448UL /* bytes: an odd number of cache lines */
#define COLOURED 4096UL

char *ferry__stack_bottom(struct stack *stack)
{
	return (char *)(stack + 1) - STACK_SIZE;
}

char *ferry__stack_top(struct stack *stack)
{
	return (char *)stack - stack->number * COLOUR % COLOURED;
}

static struct stack *stack_map(unsigned long number)
{
	char *memory = mmap(NULL, GUARD + STACK_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	struct stack *stack;

	if (memory == MAP_FAILED)
		return NULL;
	if (mprotect(memory, GUARD, PROT_NONE)) {
		munmap(memory, GUARD + STACK_SIZE);
		return NULL;
	}
	stack = (struct stack *)(memory + GUARD + STACK_SIZE) - 1;
	stack->number = number;
	return stack;
}

struct stack *ferry__stack_get(struct stack_pool *pool)
{
	struct stack *stack = pool->free;

	if (!stack)
		return stack_map(pool->made++);
	pool->free = stack->next;
	return stack;
}

void ferry__stack_put(struct stack_pool *pool, struct stack *stack)
{
#ifdef SWITCH_ASAN
	/* The last thread never returned from its frames. */
	ASAN_UNPOISON_MEMORY_REGION(ferry__stack_bottom(stack), STACK_SIZE);
#endif
	stack->next = pool->free;
	pool->free = stack;
}

void ferry__stack_pool_empty(struct stack_pool *pool)
{
	struct stack *stack, *next;

	for (stack = pool->free; stack; stack = next) {
		next = stack->next;
		munmap(ferry__stack_bottom(stack) - GUARD, GUARD + STACK_SIZE);
	}
	pool->free = NULL;
}

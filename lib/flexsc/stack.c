// SPDX-License-Identifier: MIT
#include "stack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ferry/rawcall.h>

#include "switch.h"

#define GUARD (1UL << 20)

/* Linux 6.13.  It leaves the mapping whole, while each mprotect() splits it. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/*
 * Stacks are whole pages apart, so the hot memory at their tops would compete for a few sets of
 * the cache.  Each therefore begins a little lower than the one before.
 */
#define COLOUR 448UL /* bytes: an odd number of cache lines */
#define COLOURED 4096UL

/* A block has room for as many stacks as there are already, within these limits. */
#define MIN_BLOCK 8
#define MAX_BLOCK 1024

struct block {
	struct block *next;
	char *memory, *unused, *end;
};

static size_t whole_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

void ferry__stack_pool_init(struct stack_pool *pool, size_t size)
{
	*pool = (struct stack_pool){ .guard = whole_pages(GUARD), .size = whole_pages(size) };
}

char *ferry__stack_top(struct stack *stack)
{
	return (char *)stack - stack->number * COLOUR % COLOURED;
}

/* Older kernels know neither advice.  That is no error of the thread's, so errno stays. */
static long advise(void *memory, size_t size, int advice)
{
	return ferry_rawcall(SYS_madvise, (long)memory, (long)size, advice, 0, 0, 0);
}

/* A mapping for COUNT stacks, or for fewer if the address space is limited. */
static bool map(const struct stack_pool *pool, struct block *block, unsigned long count)
{
	size_t size;

	for (; count; count /= 2) {
		size = count * (pool->guard + pool->size);
		block->memory =
			mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
		if (block->memory == MAP_FAILED)
			continue;
		advise(block->memory, size, MADV_NOHUGEPAGE); /* most stacks are a page deep */
		block->unused = block->memory;
		block->end = block->memory + size;
		return true;
	}
	return false;
}

static struct block *block_new(const struct stack_pool *pool)
{
	struct block *block = malloc(sizeof(*block));
	unsigned long count = pool->made;

	if (count < MIN_BLOCK)
		count = MIN_BLOCK;
	if (count > MAX_BLOCK)
		count = MAX_BLOCK;
	if (block && map(pool, block, count))
		return block;
	free(block);
	return NULL;
}

static bool add_block(struct stack_pool *pool)
{
	struct block *block = block_new(pool);

	if (!block)
		return false;
	block->next = pool->blocks;
	pool->blocks = block;
	return true;
}

static struct stack *stack_new(struct stack_pool *pool)
{
	struct block *block = pool->blocks;
	char *guard = block->unused, *bottom = guard + pool->guard;
	struct stack *stack = (struct stack *)(bottom + pool->size) - 1;

	if (advise(guard, pool->guard, MADV_GUARD_INSTALL) &&
	    mprotect(guard, pool->guard, PROT_NONE))
		return NULL;
	block->unused = bottom + pool->size;
	stack->bottom = bottom;
	stack->number = pool->made++;
	return stack;
}

struct stack *ferry__stack_get(struct stack_pool *pool)
{
	struct stack *stack = pool->free;

	if (stack) {
		pool->free = stack->next;
		return stack;
	}
	if ((!pool->blocks || pool->blocks->unused == pool->blocks->end) && !add_block(pool))
		return NULL;
	return stack_new(pool);
}

void ferry__stack_put(struct stack_pool *pool, struct stack *stack)
{
#ifdef SWITCH_ASAN
	/* The last thread never returned from its frames. */
	ASAN_UNPOISON_MEMORY_REGION(stack->bottom, (size_t)((char *)stack - stack->bottom));
#endif
	stack->next = pool->free;
	pool->free = stack;
}

void ferry__stack_pool_empty(struct stack_pool *pool)
{
	struct block *block;

	while ((block = pool->blocks)) {
		pool->blocks = block->next;
		munmap(block->memory, (size_t)(block->end - block->memory));
		free(block);
	}
	pool->free = NULL;
}

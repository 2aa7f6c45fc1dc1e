// SPDX-License-Identifier: MIT
/* Drops slots, many at first, then clears fields; repeats until nothing more can go. */
#include "shrink.h"

#include <string.h>

#include "world.h"

/* VALUE, adjusted if it is an address, without slots FIRST .. FIRST + N - 1. */
static long moved(long value, unsigned long first, unsigned long n)
{
	unsigned long at = (unsigned long)value;

	if (at >= SLOTS_AT + 64 * (first + n) && at < SLOTS_AT + 64 * MAX_SLOTS)
		return (long)(at - 64 * n);
	if (at >= RETS_AT + 8 * (first + n) && at < RETS_AT + 8 * MAX_SLOTS)
		return (long)(at - 8 * n);
	return value;
}

/* A jump from slot I, shortened if it crosses the gap. */
static short shorter_jump(short jump, unsigned long i, unsigned long first, unsigned long n)
{
	unsigned long target = i + 1 + (unsigned long)jump;

	if (jump <= 0 || i >= first || target <= first)
		return jump;
	return (short)(target >= first + n ? (unsigned long)jump - n : first - i - 1);
}

static unsigned char shorter_distance(unsigned char d, unsigned long i, unsigned long first,
				      unsigned long n)
{
	if (i < first + n || !d || d > i || i - d >= first + n)
		return d;
	return (unsigned char)(i - d < first ? d - n : 0);
}

/* PROGRAM without slots FIRST .. FIRST + N - 1; references to slots are adjusted. */
static void drop(struct program *program, unsigned long first, unsigned long n)
{
	unsigned long i;
	int k;

	for (i = 0; i < program->count; i++) {
		struct batch_slot *slot = &program->slots[i];

		slot->jump_fail = shorter_jump(slot->jump_fail, i, first, n);
		slot->jump_zero = shorter_jump(slot->jump_zero, i, first, n);
		slot->jump_pos = shorter_jump(slot->jump_pos, i, first, n);
		for (k = 0; k < BATCH_MAX_ARGS; k++) {
			slot->from[k] = shorter_distance(slot->from[k], i, first, n);
			slot->arg[k] = moved(slot->arg[k], first, n);
		}
	}
	memmove(&program->slots[first], &program->slots[first + n],
		(program->count - first - n) * sizeof(struct batch_slot));
	program->count -= n;
	program->ncall = program->ncall > n ? program->ncall - n : 0;
	/* Unreadable slots begin at a page boundary; without one, ncall is the number of slots. */
	if (program->count % SLOTS_PER_PAGE && program->ncall > program->count)
		program->ncall = program->count;
}

static bool drop_slots(struct program *program, fails_fn fails, void *context)
{
	struct program smaller;
	bool dropped = false;
	unsigned long n;
	unsigned long first;

	for (n = program->count / 2; n; n /= 2) {
		for (first = 0; first + n <= program->count;) {
			smaller = *program;
			drop(&smaller, first, n);
			if (!fails(&smaller, context)) {
				first += n;
				continue;
			}
			*program = smaller;
			dropped = true;
		}
	}
	return dropped;
}

/* Replaces PROGRAM by SMALLER if that fails too. */
static bool take(struct program *program, struct program *smaller, fails_fn fails, void *context)
{
	if (!memcmp(program, smaller, sizeof(*program)) || !fails(smaller, context))
		return false;
	*program = *smaller;
	return true;
}

/* Makes slot I a slot that fails and does nothing. */
static bool blank_slot(struct program *program, unsigned long i, fails_fn fails, void *context)
{
	struct program smaller = *program;

	smaller.slots[i] = (struct batch_slot){ .nr = -1 };
	return take(program, &smaller, fails, context);
}

static bool clear_jumps(struct program *program, unsigned long i, fails_fn fails, void *context)
{
	struct program smaller = *program;
	bool cleared = false;

	smaller.slots[i].jump_fail = 0;
	cleared |= take(program, &smaller, fails, context);
	smaller = *program;
	smaller.slots[i].jump_zero = 0;
	cleared |= take(program, &smaller, fails, context);
	smaller = *program;
	smaller.slots[i].jump_pos = 0;
	return cleared | take(program, &smaller, fails, context);
}

static bool clear_operands(struct program *program, unsigned long i, fails_fn fails, void *context)
{
	struct program smaller = *program;
	bool cleared = false;
	int k;

	smaller.slots[i].reserved = 0;
	cleared |= take(program, &smaller, fails, context);
	smaller = *program;
	smaller.slots[i].argc = 0;
	cleared |= take(program, &smaller, fails, context);
	for (k = 0; k < BATCH_MAX_ARGS; k++) {
		smaller = *program;
		smaller.slots[i].from[k] = 0;
		cleared |= take(program, &smaller, fails, context);
	}
	return cleared;
}

/* Arguments of a word copy are addresses and stay. */
static bool clear_arguments(struct program *program, unsigned long i, fails_fn fails, void *context)
{
	struct program smaller;
	bool cleared = false;
	int k;

	for (k = program->slots[i].nr == BATCH_WDCPY ? 2 : 0; k < BATCH_MAX_ARGS; k++) {
		smaller = *program;
		smaller.slots[i].arg[k] = 0;
		cleared |= take(program, &smaller, fails, context);
	}
	return cleared;
}

static bool clear_fields(struct program *program, fails_fn fails, void *context)
{
	bool cleared = false;
	unsigned long i;

	for (i = 0; i < program->count; i++) {
		cleared |= blank_slot(program, i, fails, context);
		cleared |= clear_jumps(program, i, fails, context);
		cleared |= clear_operands(program, i, fails, context);
		cleared |= clear_arguments(program, i, fails, context);
	}
	return cleared;
}

void shrink(struct program *program, fails_fn fails, void *context)
{
	bool smaller = true;

	while (smaller) {
		smaller = drop_slots(program, fails, context);
		smaller |= clear_fields(program, fails, context);
	}
}

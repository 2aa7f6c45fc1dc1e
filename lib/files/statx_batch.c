// SPDX-License-Identifier: MIT
#include "statx_batch.h"

#include <stdlib.h>

#include <ferry/rawcall.h>

#include "calls.h"

/*
 * A slot LIKE that for each name of PIECE.  Inline, the compiler would build that one again for
 * each name, instead of copying it.
 */
__attribute__((noinline)) static void fill(struct batch_slot *restrict slots,
					   const struct batch_slot *restrict like,
					   const struct statx_batch *batch, struct piece piece)
{
	const char *const *name = batch->names + piece.first;
	struct statx *stat = batch->stats ? batch->stats + piece.first : (void *)like->arg[4];
	size_t step = batch->stats ? 1 : 0, count = piece.end - piece.first, i;

	for (i = 0; i < count; i++, stat += step) {
		slots[i] = *like;
		slots[i].arg[1] = (long)name[i];
		slots[i].arg[4] = (long)stat;
	}
}

/* Stores results as errors, and returns how many are. */
static size_t take_results(const long results[], int errors[], size_t count)
{
	size_t failed = 0, i;

	for (i = 0; i < count; i++) {
		errors[i] = (int)results[i];
		failed += results[i] != 0;
	}
	return failed;
}

/* The names for which statx() was refused. */
static void ask_again(const struct statx_batch *batch, struct piece piece, long results[],
		      struct statx *unwanted)
{
	size_t count = piece.end - piece.first, i;

	for (i = 0; i < count; i++)
		if (ferry__is_refused(results[i]))
			results[i] = ferry__call_statx_again(
				NULL, batch->dir, batch->names[piece.first + i], batch->flags,
				batch->stats ? &batch->stats[piece.first + i] : unwanted);
}

static bool run(const struct statx_batch *batch, struct piece piece, struct batch_slot slots[],
		long results[], size_t *failed)
{
	unsigned long count = piece.end - piece.first;
	struct statx unwanted;
	const struct batch_slot like = {
		.nr = SYS_statx,
		.argc = 5,
		.arg = { batch->dir, 0, batch->flags, batch->mask, (long)&unwanted },
	};

	fill(slots, &like, batch, piece);
	if (ferry_batch_on(batch->engine, results, slots, count, 0, sizeof(*slots)) !=
	    (long)count - 1)
		return false;
	ask_again(batch, piece, results, &unwanted);
	*failed = take_results(results, batch->errors + piece.first, count);
	return true;
}

bool ferry__statx_batch(const struct statx_batch *batch, struct piece piece, size_t *failed)
{
	size_t count = piece.end - piece.first;
	struct batch_slot *slots;
	bool done;

	if (batch->engine == FERRY_LOOP || count < STATX_BATCH_WORTH)
		return false;
	slots = malloc(count * (sizeof(*slots) + sizeof(long)));
	if (!slots)
		return false;
	done = run(batch, piece, slots, (long *)(slots + count), failed);
	free(slots);
	return done;
}

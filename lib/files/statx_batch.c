// SPDX-License-Identifier: MIT
#include "statx_batch.h"

#include <ferry/rawcall.h>

bool ferry__statx_batch(const struct statx_batch *batch, struct piece piece)
{
	struct ferry_slot slots[STATX_BATCH_MOST];
	long results[STATX_BATCH_MOST];
	struct statx unwanted;
	unsigned long count = piece.end - piece.first, i;

	if (batch->engine == FERRY_LOOP || count < STATX_BATCH_WORTH)
		return false;
	for (i = 0; i < count; i++)
		slots[i] = (struct ferry_slot){
			.nr = SYS_statx,
			.argc = 5,
			.arg = { batch->dir, (long)batch->names[piece.first + i], batch->flags,
				 batch->mask,
				 (long)(batch->stats ? &batch->stats[piece.first + i] :
						       &unwanted) },
		};
	if (ferry_batch_on(batch->engine, results, slots, count, 0, sizeof(*slots)) !=
	    (long)count - 1)
		return false;
	for (i = 0; i < count; i++)
		batch->errors[piece.first + i] = (int)results[i];
	return true;
}

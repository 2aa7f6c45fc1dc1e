// SPDX-License-Identifier: MIT
#include "lot.h"

#include <limits.h>
#include <string.h>

struct bucket lot[BUCKETS];

enum wait_state lot_wait(struct bucket *bucket, const void *address, unsigned int seq,
			 int64_t deadline)
{
	struct wait wait = { .list = &bucket->list, .key = address, .seq = seq };

	return wait_for(&wait, 1, deadline);
}

void lot_wake_all(void)
{
	int i;

	for (i = 0; i < BUCKETS; i++)
		if (__atomic_load_n(&lot[i].waiters, __ATOMIC_SEQ_CST))
			wait_wake(&lot[i].list, ANY_KEY, INT_MAX, INT_MAX, 1);
}

void lot_reset(void)
{
	memset(lot, 0, sizeof(lot));
}

// SPDX-License-Identifier: MIT
#include "lot.h"

#include <string.h>

struct bucket lot[BUCKETS];

enum wait_state lot_wait(struct bucket *bucket, const void *address, unsigned int seq,
			 int64_t deadline)
{
	struct wait wait = { .list = &bucket->list, .key = address, .seq = seq };

	return wait_for(&wait, 1, deadline);
}

void lot_reset(void)
{
	memset(lot, 0, sizeof(lot));
}

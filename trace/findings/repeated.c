// SPDX-License-Identifier: MIT
#include "repeated.h"

#define OFTEN 2

static void take_group(struct repeated *repeated, const struct member *first, size_t size,
		       const char *kind)
{
	struct tally tally = { 0 };
	size_t i;

	for (i = 0; i < size; i++)
		claim(&tally, first[i].seen, kind);
	repeated->things++;
	repeated->all.calls += tally.calls;
	repeated->all.ns += tally.ns;
	repeated->again.calls += tally.calls - 1;
	repeated->again.ns += tally.ns * (1 - 1 / tally.calls);
	if (tally.calls > repeated->most_times) {
		repeated->most_times = tally.calls;
		repeated->most = first->seen->call;
	}
}

struct repeated find_repeated(struct evidence *evidence,
			      bool (*asks)(const struct traced_call *call, uint64_t *key),
			      const char *kind)
{
	struct repeated repeated = { 0 };
	struct groups groups = { 0 };
	size_t i, size;
	uint64_t key;

	for (i = 0; i < evidence->count; i++)
		if (!evidence->of[i].claimed && asks(evidence->of[i].call, &key))
			groups_add(&groups, key, &evidence->of[i]);
	groups_sort(&groups);
	for (i = 0; i < groups.count; i += size) {
		size = group_size(&groups, i);
		if (size >= OFTEN)
			take_group(&repeated, &groups.of[i], size, kind);
	}
	groups_free(&groups);
	return repeated;
}

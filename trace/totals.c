// SPDX-License-Identifier: MIT
#include "totals.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/memory.h"
#include "common/record.h"
#include "names.h"

static bool reads(int nr)
{
	return nr == SYS_read || nr == SYS_readv || nr == SYS_pread64 || nr == SYS_recvfrom ||
	       nr == SYS_recvmsg || nr == SYS_splice;
}

void totals_add(struct totals *totals, const struct traced_call *call)
{
	struct total *total = &totals->of[call->nr];

	totals->calls++;
	total->calls++;
	total->failed += call_failed(call);
	if (!call->args[0] && reads(call->nr))
		totals->from_input++;
}

static int by_count(const void *a, const void *b)
{
	const struct total *one = a, *other = b;

	if (one->calls != other->calls)
		return one->calls < other->calls ? 1 : -1;
	return strcmp(one->name, other->name);
}

struct total *totals_sort(const struct totals *totals, size_t *count)
{
	struct total *sorted = keep(COUNT_OF(totals->of), sizeof(*sorted));
	int nr;

	*count = 0;
	for (nr = 0; nr <= CALL_OTHER; nr++) {
		struct total *total = &sorted[*count];

		if (!totals->of[nr].calls)
			continue;
		*total = totals->of[nr];
		total->nr = nr;
		total->name = name_of_call(nr);
		total->share = (double)total->calls / (double)totals->calls;
		++*count;
	}
	qsort(sorted, *count, sizeof(*sorted), by_count);
	return sorted;
}

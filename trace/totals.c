// SPDX-License-Identifier: MIT
#include "totals.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/memory.h"
#include "common/record.h"
#include "lib/text/text.h"

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
	if (call->result < 0 && call->result >= -4095)
		total->failed++;
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

static const char *name_of(int nr)
{
	char name[CALL_NAME_SIZE];

	if (nr == CALL_OTHER)
		return "calls of another architecture";
	return keep_text("%s", call_name((short)nr, name));
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
		total->name = name_of(nr);
		total->share = (double)total->calls / (double)totals->calls;
		++*count;
	}
	qsort(sorted, *count, sizeof(*sorted), by_count);
	return sorted;
}

// SPDX-License-Identifier: MIT
#include "direct.h"

#include <ferry_flexsc.h>

/* Whether batches may make call NR. */
static bool exists(long nr)
{
	return nr >= 0 && nr < SUBCALL_NR_LIMIT && !ferry_is_blocked((unsigned int)nr);
}

const char *ferry_direct_reason(long nr)
{
	const struct call *call = known_call(nr);

	if (!exists(nr))
		return NULL;
	return call ? call->reason : "this version of ferry does not know it";
}

const char *ferry_direct_name(long nr)
{
	const struct call *call = known_call(nr);

	return call && exists(nr) && call->reason ? call->name : NULL;
}

bool ferry__batch_may_be_posted(const struct batch_slot calls[], unsigned long ncall, int limit)
{
	unsigned long i;
	short nr;

	for (i = 0; i < ncall; i++) {
		nr = calls[i].nr;
		if (exists(nr) && !may_be_posted(nr, limit))
			return false;
	}
	return true;
}

// SPDX-License-Identifier: MIT
#include "direct.h"

#include <sys/wait.h>

#include <ferry_flexsc.h>

/* Whether batches may make call NR. */
static bool exists(long nr)
{
	return nr >= 0 && nr < FERRY_BLOCKED_LIMIT && !ferry_is_blocked((unsigned int)nr);
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

/* Of all calls that may depend on the caller, these seldom do and often block. */
bool ferry__depends_on_caller(long nr, const __s64 arg[])
{
	if (nr == __NR_wait4)
		return arg[2] & __WNOTHREAD;
	if (nr == __NR_waitid)
		return arg[3] & __WNOTHREAD;
	if (nr == __NR_ppoll)
		return arg[3];
	if (nr == __NR_epoll_pwait)
		return arg[4];
	return nr != __NR_pselect6 || arg[5];
}

bool ferry__batch_may_be_posted(const struct ferry_slot calls[], unsigned long ncall, int limit)
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

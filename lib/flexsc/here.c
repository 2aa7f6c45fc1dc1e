// SPDX-License-Identifier: MIT
#include "here.h"

#include <limits.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>

#include <ferry/loop.h>
#include <ferry_flexsc.h>

#include "calls/calls.h"

/* close_range() and its CLOSE_RANGE_UNSHARE: Linux 5.9, headers may be older. */
#define CLOSE_RANGE 436
#define UNSHARES (1U << 1)

static bool prctl_confines(long option)
{
	return option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS ||
	       option == PR_SET_SECUREBITS || option == PR_CAPBSET_DROP || option == PR_CAP_AMBIENT;
}

static bool confines(long nr, const __s64 arg[])
{
	const struct call *call = known_call(nr);

	if (!call || call->who <= ALIKE_RUNNER)
		return false;
	return call->who == CHANGES_RIGHTS || (nr == SYS_prctl && prctl_confines(arg[0])) ||
	       (nr == CLOSE_RANGE && arg[2] & UNSHARES) ||
	       (nr == SYS_keyctl && arg[0] == KEYCTL_JOIN_SESSION_KEYRING);
}

long ferry__call_here(long nr, const __s64 arg[])
{
	long result;

	if (nr < 0 || nr > SHRT_MAX)
		return -ENOSYS;
	result =
		ferry_loop_call((unsigned short)nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (result >= 0 && confines(nr, arg))
		ferry_flexsc_confined();
	return result;
}

long ferry__batch_here(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	long result = ferry_batch(rets, calls, ncall, 0, 0);
	unsigned long i;

	for (i = 0; i < ncall; i++)
		if (confines(calls[i].nr, calls[i].arg))
			ferry_flexsc_confined();
	return result;
}

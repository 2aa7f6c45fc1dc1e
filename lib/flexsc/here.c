// SPDX-License-Identifier: MIT
#include "here.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include <ferry/loop.h>
#include <ferry_flexsc.h>

#include "confinement.h"
#include "direct.h"
#include "scheduler.h"

void ferry_flexsc_confined(void)
{
	struct scheduler *s = ferry__scheduler;

	ferry__note_confinement();
	if (!s)
		return;
	s->limit = s->shortcut = POST_NOTHING;
	if (!scheduler_is_inside(s))
		s->posting = POST_NOTHING;
}

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

/* Those that only look at the descriptor or change it; locks and leases may wait. */
static bool fcntl_never_waits(long command)
{
	return command == F_DUPFD || command == F_DUPFD_CLOEXEC || command == F_GETFD ||
	       command == F_SETFD || command == F_GETFL || command == F_SETFL;
}

static long read_from_memory(const __s64 arg[], long skipped)
{
	struct iovec data = { (char *)arg[1] + skipped, (size_t)(arg[2] - skipped) };

	return ferry_rawcall(SYS_preadv2, arg[0], (long)&data, 1, arg[3] + skipped, 0, RWF_NOWAIT);
}

/*
 * A read that ends where memory ends, not the file, is to be made again as a whole: its position
 * is an argument, so it reads the same bytes.
 */
static bool pread_from_memory(const __s64 arg[], long *result)
{
	if (arg[3] < 0) /* preadv2() takes -1 for the file's own position */
		return false;
	*result = read_from_memory(arg, 0);
	if (*result > 0 && *result < arg[2])
		return !read_from_memory(arg, *result);
	return *result >= 0;
}

bool ferry__call_without_waiting(long nr, const __s64 arg[], long *result)
{
	if (nr == SYS_pread64)
		return pread_from_memory(arg, result);
	if (!is_quick(nr) && !(nr == SYS_fcntl && fcntl_never_waits(arg[1])))
		return false;
	*result = ferry__call_here(nr, arg);
	return true;
}

long ferry__batch_here(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	long result = ferry_batch(rets, calls, ncall, 0, 0);
	unsigned long i;

	for (i = 0; i < ncall; i++)
		if (confines(calls[i].nr, calls[i].arg))
			ferry_flexsc_confined();
	return result;
}

// SPDX-License-Identifier: GPL-2.0
/* flexsc as system calls. */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/mutex.h> /* used by futex.h */
#include <linux/futex.h>
#include <linux/minmax.h>
#include <linux/pagemap.h>
#include <linux/sched/signal.h>
#include <linux/syscalls.h>
#include <linux/uaccess.h>
#include <asm/futex.h>

#include "flexsc.h"
#include "syscall.h"

SYSCALL_DEFINE2(flexsc_register, struct ferry_flexsc_set __user *, set, size_t, size)
{
	if (!set && !size)
		return FERRY_FLEXSC_ANSWER;
	return ferry_flexsc_check(set, size);
}

SYSCALL_DEFINE1(flexsc_serve, struct ferry_flexsc_set __user *, set)
{
	struct ferry_outer_call call;

	ferry_outer_begin(&call);
	return ferry_outer_end(&call, ferry_flexsc_serve(&call.caller, set));
}

/* Changes *WORD from ASLEEP to RUNNING.  Returns 1 if it did, 0 if not, or -errno. */
static int get_up(u32 __user *word)
{
	u32 was;
	int error;

	do {
		/* The exchange does not fault pages in. */
		if (get_user(was, word) ||
		    fault_in_safe_writeable((char __user *)word, sizeof(*word)))
			return -EFAULT;
		if (was != FERRY_RUNNER_ASLEEP)
			return 0;
		pagefault_disable();
		error = futex_atomic_cmpxchg_inatomic(&was, word, FERRY_RUNNER_ASLEEP,
						      FERRY_RUNNER_RUNNING);
		pagefault_enable();
		cond_resched();
	} while (error && !signal_pending(current));
	return error ? -ERESTARTNOINTR : was == FERRY_RUNNER_ASLEEP;
}

SYSCALL_DEFINE1(flexsc_exit, struct ferry_flexsc_set __user *, set)
{
	u32 __user *word = &set->runner;
	int asleep;

	if (!IS_ALIGNED((unsigned long)set, __alignof__(*set)))
		return -EINVAL;
	if (put_user(FERRY_GATE_STOP, &set->gate))
		return -EFAULT;
	/* Like a post: the other half is the heavy fence before the runner sleeps. */
	smp_mb();
	asleep = get_up(word);
	if (asleep > 0)
		do_futex(word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0, 0);
	return min(asleep, 0);
}

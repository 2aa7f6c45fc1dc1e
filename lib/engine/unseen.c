// SPDX-License-Identifier: MIT
#include "unseen.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include <ferry/rawcall.h>

#define BIT(sig) (1UL << ((sig)-1))

/* Those that an instruction or a call of the thread raises: the kernel kills if one is blocked. */
#define OWN_SIGNALS \
	(BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGSEGV) | BIT(SIGSYS))

static const unsigned long others = ~OWN_SIGNALS;

static atomic_int inside; /* threads from begin to end; a futex */
static atomic_int forks;  /* under way; begin fails meanwhile */
static pid_t process;	  /* whose memory this is */

static pid_t getpid_raw(void)
{
	return (pid_t)ferry_rawcall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

bool ferry__in_foreign_memory(void)
{
	return getpid_raw() != process;
}

/* Raw: the C library's function leaves its own signals unblocked, one of which cancels threads. */
static void set_mask(const unsigned long *mask, unsigned long *before)
{
	ferry_rawcall(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask, (long)before, sizeof(*mask), 0,
		      0);
}

bool ferry__unseen_begin(unsigned long *signals)
{
	if (ferry__in_foreign_memory())
		return false;
	set_mask(&others, signals);
	/* Either this sees a fork, or the fork sees this thread: both are seq_cst. */
	atomic_fetch_add(&inside, 1);
	if (atomic_load(&forks) <= 0)
		return true;
	ferry__unseen_end(*signals);
	return false;
}

void ferry__unseen_end(unsigned long signals)
{
	if (atomic_fetch_sub(&inside, 1) == 1 && atomic_load(&forks) > 0)
		ferry_rawcall(SYS_futex, (long)&inside, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
	set_mask(&signals, NULL);
}

/* A handler that runs a batch meanwhile gets the loop, so the thread cannot wait for itself. */
static void await_others(void)
{
	int threads;

	atomic_fetch_add(&forks, 1);
	while ((threads = atomic_load(&inside)) > 0 && !ferry__in_foreign_memory())
		ferry_rawcall(SYS_futex, (long)&inside, FUTEX_WAIT_PRIVATE, threads, 0, 0, 0);
}

static void end_in_parent(void)
{
	atomic_fetch_sub(&forks, 1);
}

static void start_in_child(void)
{
	atomic_store(&inside, 0);
	atomic_store(&forks, 0);
	process = getpid_raw();
}

__attribute__((constructor)) static void prepare_for_fork(void)
{
	process = getpid_raw();
	pthread_atfork(await_others, end_in_parent, start_in_child);
}

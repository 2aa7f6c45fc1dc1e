// SPDX-License-Identifier: MIT
/*
 * The kernel leads the calls of a thread through its slow entry while one of the thread's work
 * flags is set.  A tracepoint of system calls sets one in all threads; none of them can be read.
 * But the first flag costs a call the slow entry, and a second one only its own work.  So a child
 * turns on system call user dispatch, which exempts all of its calls, and takes the time of a call
 * before and after; then it installs a filter that allows everything, which is a flag, and does
 * the same again.  Where the first user dispatch costs no more than the second, there was a flag.
 */
#include "watch.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stddef.h>
#include <sys/prctl.h>

#include <ferry/rawcall.h>

#include "clock.h"
#include "common/file.h"
#include "common/memory.h"
#include "empty.h"
#include "process.h"
#include "statistics.h"

#define CHILDREN 5
#define TRIES 50
#define CALLS 64

/*
 * Times the cost of the second flag.  Measured on an AMD EPYC (Zen 3, Linux 6.18): 1.6 to 1.7
 * unwatched, and 1.0 to 1.2 with a tracepoint of ftrace or BPF.
 */
#define SLOW_ENTRY 1.35
#define CHEAP_FLAG 0.125 /* of a call: 0.26 unwatched there, 0.03 to 0.05 with a tracepoint */

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

bool watch_slow_entry(struct flag_cost first, struct flag_cost second)
{
	return first.flag < SLOW_ENTRY * second.flag && first.flag < CHEAP_FLAG * first.call;
}

/* ---- by time ---- */

/* Calls from any address are exempt. */
static bool dispatch_on(void)
{
	return !prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, ~0UL, 0);
}

static bool dispatch_off(void)
{
	return !prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
}

static double time_calls(void)
{
	double start = clock_now();
	int i;

	for (i = 0; i < CALLS; i++)
		ferry_rawcall(UNIMPLEMENTED, 0, 0, 0, 0, 0, 0);
	return (clock_now() - start) / CALLS;
}

/* The least times, which a busy machine hardly changes; NAN where there is no such dispatch. */
static struct flag_cost cost_of_dispatch(void)
{
	double without = INFINITY, with = INFINITY;
	int i;

	for (i = 0; i < TRIES; i++) {
		without = fmin(without, time_calls());
		if (!dispatch_on())
			return (struct flag_cost){ NAN, NAN };
		with = fmin(with, time_calls());
		dispatch_off();
	}
	return (struct flag_cost){ without, with - without };
}

/* Only for the rest of this process. */
static bool allow_everything(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog filter = { 1, &allow };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

struct pair_of_costs {
	struct flag_cost first, second;
};

static int measure_flags(void *context)
{
	struct pair_of_costs *costs = context;

	costs->first = cost_of_dispatch();
	costs->second = (struct flag_cost){ NAN, NAN };
	if (!isnan(costs->first.flag) && allow_everything())
		costs->second = cost_of_dispatch();
	return 0;
}

/* How many of the children found the slow entry; -1 where none can: under a filter there is one. */
static int children_on_slow_entry(void)
{
	struct pair_of_costs *costs = share(sizeof(*costs));
	int found = 0, i;

	for (i = 0; i < CHILDREN && found >= 0; i++) {
		if (prctl(PR_GET_SECCOMP) != 0 || run_in_child(measure_flags, costs) ||
		    isnan(costs->second.flag))
			found = -1;
		else
			found += watch_slow_entry(costs->first, costs->second);
	}
	unshare_memory(costs, sizeof(*costs));
	return found;
}

/* ---- by name ---- */

/* Users of perf and BPF are not shown there. */
static const char *tracepoint_of_ftrace(void)
{
	static const char *const files[] = {
		"/sys/kernel/tracing/events/raw_syscalls/enable",
		"/sys/kernel/tracing/events/syscalls/enable",
		"/sys/kernel/debug/tracing/events/raw_syscalls/enable",
		"/sys/kernel/debug/tracing/events/syscalls/enable",
	};
	size_t i;

	for (i = 0; i < COUNT_OF(files); i++) {
		const char *state = first_line(files[i]);

		/* 1: all events there; X: some */
		if (state && (*state == '1' || *state == 'X'))
			return files[i];
	}
	return NULL;
}

const char *watch_find(void)
{
	const char *file = tracepoint_of_ftrace();

	if (file)
		return keep_text("a tracepoint of system calls is on (%s), and every call pays for "
				 "it",
				 file);
	if (clock_counts_instructions() || children_on_slow_entry() <= CHILDREN / 2)
		return NULL;
	return "something watches every system call (another ferry trace, perf trace, Falco or "
	       "audit), and every call pays for it";
}

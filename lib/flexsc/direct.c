// SPDX-License-Identifier: MIT
/* The calls whose meaning belongs to the calling thread: never given to a runner. */
#include <sys/syscall.h>

#include <ferry_flexsc.h>

#include "direct.h"

static const struct direct {
	short nr;
	const char *name, *reason;
} table[] = {
/* clang-format off */
#define ROW(call, why) { __NR_##call, #call, why },
#define IDENTITY "tells or sets who the calling thread is"
	ROW(gettid, IDENTITY)
	ROW(set_tid_address, IDENTITY)
	ROW(set_robust_list, "registers the calling thread's locks")
	ROW(get_robust_list, "0 means the calling thread's locks")
	ROW(futex, "locks are owned by the calling thread, and waiting for one is its own affair")
#ifdef __NR_futex_waitv
	ROW(futex_waitv, "waiting for a lock is the calling thread's own affair")
#endif
#ifdef __NR_rseq
	ROW(rseq, "registers the calling thread's critical sections")
#endif
	ROW(membarrier, "is a barrier for the calling thread, too")

#define SIGNALS "signals are blocked, pending and handled thread by thread"
	ROW(rt_sigprocmask, SIGNALS)
	ROW(rt_sigpending, SIGNALS)
	ROW(rt_sigsuspend, SIGNALS)
	ROW(rt_sigtimedwait, SIGNALS)
	ROW(sigaltstack, SIGNALS)
#ifdef __NR_pause
	ROW(pause, SIGNALS)
#endif
#define TO_SELF "a signal to the caller is handled before the call returns"
	ROW(kill, TO_SELF)
	ROW(tkill, TO_SELF)
	ROW(tgkill, TO_SELF)
	ROW(rt_sigqueueinfo, TO_SELF)
	ROW(rt_tgsigqueueinfo, TO_SELF)

#define SCHEDULING "0 means the calling thread"
	ROW(sched_yield, "gives the calling thread's CPU to others")
	ROW(sched_setaffinity, SCHEDULING)
	ROW(sched_getaffinity, SCHEDULING)
	ROW(sched_setscheduler, SCHEDULING)
	ROW(sched_getscheduler, SCHEDULING)
	ROW(sched_setparam, SCHEDULING)
	ROW(sched_getparam, SCHEDULING)
	ROW(sched_setattr, SCHEDULING)
	ROW(sched_getattr, SCHEDULING)
	ROW(sched_rr_get_interval, SCHEDULING)
	ROW(setpriority, SCHEDULING)
	ROW(getpriority, SCHEDULING)
	ROW(ioprio_set, SCHEDULING)
	ROW(ioprio_get, SCHEDULING)
	ROW(getcpu, "tells where the calling thread runs")
	ROW(getrusage, "may mean the calling thread")
	ROW(clock_gettime, "may mean the calling thread's CPU time")
	ROW(clock_getres, "may mean the calling thread's CPU time")
	ROW(timer_create, "may measure the calling thread's CPU time")
	ROW(perf_event_open, "0 means the calling thread")
	ROW(set_mempolicy, "says where the calling thread's memory goes")
	ROW(get_mempolicy, "tells where the calling thread's memory goes")

#define CREDENTIALS "credentials belong to the calling thread"
	ROW(setuid, CREDENTIALS)
	ROW(setgid, CREDENTIALS)
	ROW(setreuid, CREDENTIALS)
	ROW(setregid, CREDENTIALS)
	ROW(setresuid, CREDENTIALS)
	ROW(setresgid, CREDENTIALS)
	ROW(setfsuid, CREDENTIALS)
	ROW(setfsgid, CREDENTIALS)
	ROW(setgroups, CREDENTIALS)
	ROW(getuid, CREDENTIALS)
	ROW(getgid, CREDENTIALS)
	ROW(geteuid, CREDENTIALS)
	ROW(getegid, CREDENTIALS)
	ROW(getresuid, CREDENTIALS)
	ROW(getresgid, CREDENTIALS)
	ROW(getgroups, CREDENTIALS)
	ROW(capset, CREDENTIALS)
	ROW(capget, CREDENTIALS)
#define KEYS "key rings belong to the calling thread"
	ROW(add_key, KEYS)
	ROW(request_key, KEYS)
	ROW(keyctl, KEYS)

	ROW(unshare, "moves the calling thread to namespaces of its own")
	ROW(setns, "moves the calling thread to other namespaces")
	ROW(prctl, "changes or tells what the calling thread may do")
	ROW(seccomp, "filters the calling thread's calls")
#ifdef __NR_landlock_restrict_self
	ROW(landlock_restrict_self, "confines the calling thread")
#endif
	ROW(personality, "changes how the calling thread's calls work")
	ROW(ptrace, "a tracer is a thread")
#ifdef __NR_pkey_alloc
	ROW(pkey_alloc, "changes the calling thread's rights to memory")
#endif
#define SUBMITTER "a ring may be bound to the thread that submits"
#ifdef __NR_io_uring_setup
	ROW(io_uring_setup, SUBMITTER)
	ROW(io_uring_enter, SUBMITTER)
	ROW(io_uring_register, SUBMITTER)
#endif
#ifdef __NR_arch_prctl
	ROW(arch_prctl, "sets the calling thread's registers")
	ROW(iopl, "gives the calling thread its rights to ports")
	ROW(ioperm, "gives the calling thread its rights to ports")
	ROW(set_thread_area, "sets the calling thread's segments")
	ROW(get_thread_area, "tells the calling thread's segments")
#endif
	/* clang-format on */
};

#define ROWS (sizeof(table) / sizeof(table[0]))

static const struct direct *find(long nr)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (table[i].nr == nr)
			return &table[i];
	return NULL;
}

const char *ferry_direct_reason(long nr)
{
	const struct direct *row = find(nr);

	return row ? row->reason : NULL;
}

const char *ferry_direct_name(long nr)
{
	const struct direct *row = find(nr);

	return row ? row->name : NULL;
}

unsigned char ferry__not_posted[FERRY_BLOCKED_LIMIT];

static bool direct[FERRY_BLOCKED_LIMIT];

__attribute__((constructor)) static void fill_in(void)
{
	size_t i;

	for (i = 0; i < FERRY_BLOCKED_LIMIT; i++)
		ferry__not_posted[i] = ferry_is_blocked((unsigned int)i);
	for (i = 0; i < ROWS; i++) {
		direct[table[i].nr] = true;
		ferry__not_posted[table[i].nr] = 1;
	}
}

bool ferry__batch_may_be_posted(const struct ferry_slot calls[], unsigned long ncall)
{
	unsigned long i;
	short nr;

	for (i = 0; i < ncall; i++) {
		nr = calls[i].nr;
		if (nr >= 0 && nr < FERRY_BLOCKED_LIMIT && direct[nr])
			return false;
	}
	return true;
}

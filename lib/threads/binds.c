// SPDX-License-Identifier: MIT
/*
 * Calls that change only the kernel thread that makes them: its privileges, placement, clocks.  The
 * thread goes home for good before the call, so that the change confines its own kernel thread.  No
 * carrier ever runs a thread whose own kernel thread could do less, or more, than the carrier.
 */
#include "binds.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/fsuid.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif
#include <sys/personality.h>
#include <sys/prctl.h>

#include "cpu.h"
#include "end.h"
#include "export.h"
#include "home.h"
#include "lock.h"
#include "real.h"

static unsigned int domains, domain_of_carriers;
static bool strangers; /* a thread that is not known by its number was changed by another */

/* ---- domains ---- */

void binds_start(void)
{
	domain_of_carriers = ferry_self.domain;
}

unsigned int binds_domain(void)
{
	return __atomic_load_n(&strangers, __ATOMIC_ACQUIRE) ? ~0U : domain_of_carriers;
}

static unsigned int new_domain(void)
{
	return __atomic_add_fetch(&domains, 1, __ATOMIC_RELAXED);
}

void binds_self(const char *reason)
{
	home_bind(reason);
	ferry_self.domain = new_domain();
}

void binds_filter(unsigned long flags)
{
	binds_self("a seccomp filter");
	ferry_self.filtered = true;
	if (flags & SECCOMP_FILTER_FLAG_TSYNC)
		end_layer("a seccomp filter for all threads");
}

static void bind_other(struct thread *thread, const char *reason)
{
	thread->bound = reason;
	home_call(thread, CALL_BIND);
}

struct target {
	int tid;
	const char *reason;
};

static bool is_target(struct thread *thread, const void *data)
{
	const struct target *target = data;

	if (thread->tid != target->tid)
		return false;
	thread->domain = new_domain();
	bind_other(thread, target->reason);
	return true;
}

void binds_tid(int tid, const char *reason)
{
	const struct target target = { tid, reason };

	if (!tid || tid == home_tid()) {
		binds_self(reason);
		return;
	}
	/* Never carried; the signal 0 finds out whether it is a thread of this process. */
	if (!home_find(is_target, &target) && tid != getpid() &&
	    !raw3(SYS_tgkill, getpid(), tid, 0))
		__atomic_store_n(&strangers, true, __ATOMIC_RELEASE);
}

static void bind_pthread(pthread_t pthread, const char *reason)
{
	if (pthread == pthread_self())
		home_bind(reason);
	else
		bind_other(thread_of(pthread), reason);
}

/* ---- the calls: the type, name, parameters and arguments, and why ---- */

#define BINDING_CALLS(X)                                                       \
	X(int, setns, (int fd, int type), (fd, type), "setns")                 \
	X(int, unshare, (int flags), (flags), "unshare")                       \
	X(int, setfsuid, (uid_t id), (id), "setfsuid")                         \
	X(int, setfsgid, (gid_t id), (id), "setfsgid")                         \
	X(int, personality, (unsigned long persona), (persona), "personality") \
	X(int, nice, (int by), (by), "nice")                                   \
	X(pid_t, _Fork, (void), (), "_Fork")

/* NOLINTBEGIN(bugprone-macro-parentheses): types and declarations */
#define X(type, name, parameters, arguments, reason) \
	EXPORT type name parameters                  \
	{                                            \
		binds_self(reason);                  \
		return LIBC(name) arguments;         \
	}
BINDING_CALLS(X)
#ifdef __x86_64__
X(int, ioperm, (unsigned long from, unsigned long count, int on), (from, count, on), "ioperm")
X(int, iopl, (int level), (level), "iopl")
#endif
#undef X

/* Calls that name the kernel thread. */
#define BINDING_TID_CALLS(X)                                                                 \
	X(int, sched_setaffinity, (pid_t tid, size_t size, const cpu_set_t *set),            \
	  (tid, size, set), "affinity")                                                      \
	X(int, sched_setscheduler, (pid_t tid, int policy, const struct sched_param *param), \
	  (tid, policy, param), "scheduling class")                                          \
	X(int, sched_setparam, (pid_t tid, const struct sched_param *param), (tid, param),   \
	  "scheduling class")

#define X(type, name, parameters, arguments, reason) \
	EXPORT type name parameters                  \
	{                                            \
		binds_tid(tid, reason);              \
		return LIBC(name) arguments;         \
	}
BINDING_TID_CALLS(X)
#undef X

#define BINDING_PTHREAD_CALLS(X)                                                                  \
	X(pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *set),          \
	  (thread, size, set), "affinity")                                                        \
	X(pthread_setschedparam, (pthread_t thread, int policy, const struct sched_param *param), \
	  (thread, policy, param), "scheduling class")                                            \
	X(pthread_setschedprio, (pthread_t thread, int priority), (thread, priority),             \
	  "scheduling class")

#define X(name, parameters, arguments, reason)            \
	EXPORT int name parameters                        \
	{                                                 \
		thread_of(thread)->domain = new_domain(); \
		bind_pthread(thread, reason);             \
		return LIBC(name) arguments;              \
	}
BINDING_PTHREAD_CALLS(X)
#undef X
/* NOLINTEND(bugprone-macro-parentheses) */

/* Not of a domain of its own: threads that it creates have their own clocks. */
EXPORT int pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
	bind_pthread(thread, "a thread's CPU clock");
	return LIBC(pthread_getcpuclockid)(thread, clock);
}

/* Not in libc's headers. */
EXPORT int capset(void *header, const void *data)
{
	static int (*function)(void *, const void *);

	binds_self("capabilities");
	if (!function)
		function = (int (*)(void *, const void *))real_function("capset");
	return function(header, data);
}

EXPORT int setpriority(__priority_which_t which, id_t who, int priority)
{
	if (which == PRIO_PROCESS)
		binds_tid((int)who, "nice");
	return LIBC(setpriority)(which, who, priority);
}

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1U << 31) /* linux/signal.h, which excludes signal.h */
#endif

EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	int result;

	if (!stack) /* a carrier has the thread's */
		return LIBC(sigaltstack)(stack, old);
	/* The kernel disarms it in one kernel thread, and arms it where the handler returns. */
	if (stack->ss_flags & (int)SS_AUTODISARM)
		home_bind("a signal stack that disarms itself");
	home_enter("sigaltstack");
	result = LIBC(sigaltstack)(stack, old);
	home_leave();
	return result;
}

EXPORT long ptrace(enum __ptrace_request request, ...)
{
	va_list list;
	long a, b, c;

	va_start(list, request);
	a = va_arg(list, long);
	b = va_arg(list, long);
	c = va_arg(list, long);
	va_end(list);
	home_bind("ptrace");
	return LIBC(ptrace)(request, a, b, c);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
	if (clock == CLOCK_THREAD_CPUTIME_ID && is_carried())
		home_bind("a thread's CPU clock");
	return LIBC(clock_gettime)(clock, time);
}

EXPORT int getrusage(__rusage_who_t who, struct rusage *usage)
{
	if (who == RUSAGE_THREAD)
		home_bind("a thread's CPU clock");
	return LIBC(getrusage)(who, usage);
}

/* A signal to a thread comes to its kernel thread. */
EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	if (event && event->sigev_notify == SIGEV_THREAD_ID)
		binds_tid(event->_sigev_un._tid, "a timer that signals a thread");
	if (clock == CLOCK_THREAD_CPUTIME_ID)
		home_bind("a thread's CPU clock");
	return LIBC(timer_create)(clock, event, timer);
}

EXPORT int pthread_setcanceltype(int type, int *old)
{
	if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
		home_bind("asynchronous cancellation");
	return LIBC(pthread_setcanceltype)(type, old);
}

/* ---- prctl ---- */

/* What concerns the process as a whole, or only asks. */
static bool is_of_process(int number)
{
	return IS_AMONG(number, PR_GET_DUMPABLE, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER,
			PR_GET_CHILD_SUBREAPER, PR_SET_PTRACER, PR_SET_VMA, PR_SET_THP_DISABLE,
			PR_GET_THP_DISABLE);
}

/* What only asks the kernel thread, or names it. */
static bool is_passing(int number)
{
	return IS_AMONG(number, PR_SET_NAME, PR_GET_NAME, PR_GET_PDEATHSIG, PR_GET_KEEPCAPS,
			PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_SECUREBITS, PR_GET_TIMERSLACK,
			PR_GET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS);
}

EXPORT int prctl(int option, ...)
{
	va_list list;
	long a, b, c, d, result;

	va_start(list, option);
	a = va_arg(list, long);
	b = va_arg(list, long);
	c = va_arg(list, long);
	d = va_arg(list, long);
	va_end(list);
	if (is_of_process(option))
		return (int)as_libc(raw6(SYS_prctl, option, a, b, c, d, 0));
	if (option == PR_SET_SECCOMP)
		binds_filter(0);
	else if (!is_passing(option))
		binds_self("prctl");
	home_enter("prctl");
	result = as_libc(raw6(SYS_prctl, option, a, b, c, d, 0));
	home_leave();
	return (int)result;
}

/* ---- functions that may not have a frame of ours below them ---- */

enum jump {
	JUMP_VFORK,
	JUMP_SIGSETJMP,
	JUMP_GETCONTEXT,
	JUMP_SETCONTEXT,
	JUMP_SWAPCONTEXT,
	JUMP_CLONE,
	JUMPS
};

static const struct {
	const char *name, *reason;
} jumps[JUMPS] = {
	[JUMP_VFORK] = { "vfork", "vfork" },
	[JUMP_SIGSETJMP] = { "__sigsetjmp", "sigsetjmp with the signal mask" },
	[JUMP_GETCONTEXT] = { "getcontext", "a context with a signal mask" },
	[JUMP_SETCONTEXT] = { "setcontext", "a context with a signal mask" },
	[JUMP_SWAPCONTEXT] = { "swapcontext", "a context with a signal mask" },
	[JUMP_CLONE] = { "clone", "clone" },
};

/* Called by the jumps below; SECOND: the function's second argument. */
__attribute__((used, visibility("hidden"))) void *ferry_threads_jump(enum jump jump, int second)
{
	static void *functions[JUMPS];

	if (jump != JUMP_SIGSETJMP || second)
		home_bind(jumps[jump].reason);
	if (jump == JUMP_VFORK)
		ferry_self.vforked = getpid();
	if (!functions[jump])
		functions[jump] = real_function(jumps[jump].name);
	return functions[jump];
}

JUMP("vfork", 0);
JUMP("__vfork", 0);
JUMP("__sigsetjmp", 1);
JUMP("getcontext", 2);
JUMP("setcontext", 3);
JUMP("swapcontext", 4);
JUMP("clone", 5);
_Static_assert(JUMP_VFORK == 0 && JUMP_SIGSETJMP == 1 && JUMP_CLONE == 5, "the jumps' indices");

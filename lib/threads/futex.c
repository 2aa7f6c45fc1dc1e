// SPDX-License-Identifier: MIT
/*
 * syscall(): futexes wait in the parking lot, and everything else that is not known to be the same
 * on any kernel thread is made at home, or binds.
 */
#include <limits.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>

#include "binds.h"
#include "cpu.h"
#include "export.h"
#include "home.h"
#include "lot.h"
#include "real.h"
#include "signals.h"
#include "watch.h"

/* ---- futexes ---- */

/*
 * The kernel says what is wrong with a bad address.  What was there once is taken to be there
 * still.
 */
static bool is_readable(const void *address)
{
	const unsigned long page = (unsigned long)address >> 12;
	const unsigned int slot = page % READABLE_PAGES;
	const struct timespec none = { 0 };

	if (ferry_self.readable[slot] == page)
		return page;
	/* With any value and without waiting: the kernel has to read the word. */
	if (raw6(SYS_futex, (long)address & ~3L, FUTEX_WAIT_PRIVATE, 1, (long)&none, 0, 0) ==
	    -EFAULT)
		return false;
	ferry_self.readable[slot] = page;
	return page;
}

/* Whether the kernel would compare the word and wait. */
static bool may_wait(const int *word, int operation, const struct timespec *time)
{
	if ((unsigned long)word % sizeof(*word) || !is_readable(word))
		return false;
	if (operation & FUTEX_CLOCK_REALTIME && (operation & FUTEX_CMD_MASK) == FUTEX_WAIT)
		return false;
	return !time || (is_readable(time) && time->tv_sec >= 0 && time->tv_nsec >= 0 &&
			 time->tv_nsec < NS_PER_S);
}

static int64_t futex_deadline(int operation, const struct timespec *time)
{
	const int command = operation & FUTEX_CMD_MASK;
	int64_t left;

	if (!time)
		return -1;
	if (command == FUTEX_WAIT)
		return now_ns() + ns_of(time);
	left = ns_of(time) -
	       clock_ns(operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC);
	return now_ns() + (left > 0 ? left : 0);
}

/* The value is compared after the wait was counted, before it is parked. */
static long wait_futex(int *word, int value, int64_t deadline)
{
	struct bucket *bucket = lot_enter(word);
	const unsigned int seq = wait_seq(&bucket->list);
	enum wait_state why;

	if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
		lot_leave(bucket);
		return -EAGAIN;
	}
	why = lot_wait(bucket, word, seq, deadline);
	lot_leave(bucket);
	if (why == WAIT_TIMEOUT)
		return -ETIMEDOUT;
	if (why == WAIT_CALLED)
		return home_answer(true, false); /* 0 is a wake-up that may be spurious */
	return 0;
}

/* The lot keeps no bits of waiters: a wake-up of other bits must not be spent on one of them. */
static bool waits_privately(int operation, long bits)
{
	const int command = operation & FUTEX_CMD_MASK;

	return operation & FUTEX_PRIVATE_FLAG &&
	       (command == FUTEX_WAIT ||
		(command == FUTEX_WAIT_BITSET && (unsigned int)bits == FUTEX_BITSET_MATCH_ANY));
}

static long wake_futex(const long a[6])
{
	const int command = (int)a[1] & FUTEX_CMD_MASK;
	const bool whole = command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
	const int most = (int)a[2] > 0 ? (int)a[2] : 1; /* the kernel wakes one at least */
	long woken = 0, more;

	if (command == FUTEX_WAKE_BITSET && !(unsigned int)a[5])
		return -EINVAL;
	/* The caller's change of the word, before the look for waiters. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	woken = lot_wake((void *)a[0], whole ? most : INT_MAX);
	if (whole && woken >= most)
		return woken;
	if (command == FUTEX_WAKE_OP)
		woken += lot_wake((void *)a[4], INT_MAX);
	more = raw6(SYS_futex, a[0], a[1], whole ? most - woken : a[2], a[3], a[4], a[5]);
	return more < 0 ? more : more + woken;
}

static long futex(const long a[6])
{
	const int operation = (int)a[1], command = operation & FUTEX_CMD_MASK;
	long result;

	if (is_watched() && waits_privately(operation, a[5]) &&
	    may_wait((int *)a[0], operation, (void *)a[3])) {
		if (__atomic_load_n((int *)a[0], __ATOMIC_SEQ_CST) != (int)a[2])
			return -EAGAIN;
		if (home_depart())
			return wait_futex((int *)a[0], (int)a[2],
					  futex_deadline(operation, (void *)a[3]));
	}
	switch (command) {
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_WAKE_OP:
		return wake_futex(a);
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_TRYLOCK_PI:
	case FUTEX_UNLOCK_PI:
		home_bind("a priority-inheriting futex");
		break;
	default:
		break;
	}
	home_enter("a shared futex, or one with bits");
	result = raw6(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
	home_leave();
	return result;
}

/* ---- other calls ---- */

/* The same on any kernel thread of the process, and soon over. */
static bool is_anywhere(long number)
{
	return IS_AMONG(number, SYS_getpid, SYS_getppid, SYS_getrandom, SYS_membarrier, SYS_getuid,
			SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getcpu, SYS_madvise, SYS_mmap,
			SYS_munmap, SYS_mprotect, SYS_mincore, SYS_memfd_create, SYS_statx,
			SYS_pidfd_open);
}

/* Privileges and placement of the kernel thread, and what else stays with it. */
static bool is_binding(long number)
{
	return IS_AMONG(number, SYS_setns, SYS_unshare, SYS_capset, SYS_setuid, SYS_setgid,
			SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid,
			SYS_setfsgid, SYS_setgroups, SYS_personality, SYS_ioprio_set,
			SYS_set_mempolicy, SYS_keyctl, SYS_add_key, SYS_request_key,
			SYS_perf_event_open, SYS_set_robust_list, SYS_set_tid_address, SYS_ptrace,
			SYS_clone, SYS_clone3, OLD_BINDING SYS_landlock_restrict_self,
			SYS_io_uring_setup, SYS_io_uring_enter, SYS_get_robust_list,
			SYS_timer_create);
}

static bool is_signalled(struct thread *thread, const void *data)
{
	if (thread->tid != *(const int *)data)
		return false;
	home_call(thread, CALL_SIGNAL);
	return true;
}

static long send_signal(long number, int tid, const long a[6])
{
	long result;

	home_enter("a signal for a thread");
	result = raw6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	home_leave();
	if (result >= 0)
		home_find(is_signalled, &tid);
	return result;
}

/* Returns a new descriptor. */
static bool is_birth(long number)
{
	return IS_AMONG(number, OLD_BIRTHS SYS_openat, SYS_openat2, SYS_socket, SYS_accept,
			SYS_accept4, SYS_dup, SYS_eventfd2, SYS_epoll_create1, SYS_timerfd_create,
			SYS_signalfd4, SYS_inotify_init1, SYS_memfd_create, SYS_pidfd_open,
			SYS_pidfd_getfd, SYS_userfaultfd, SYS_fanotify_init, SYS_perf_event_open);
}

static long call_at_home(long number, const long a[6])
{
	long result;

	home_check_signals();
	home_enter("syscall");
	result = raw6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	home_leave();
	return result;
}

static long dispatch(long number, const long a[6])
{
	long result;
	int fd;

	switch (number) {
	case SYS_futex:
		count_work(CALL_OF_LOCK);
		return futex(a);
	case SYS_gettid:
		if (is_carried())
			return ferry_self.tid;
		break;
	case SYS_rseq:
		/* An area belongs to a kernel thread: users fall back to what needs none. */
		if (ferry_self.place != PLACE_NATIVE)
			return -ENOSYS;
		break;
	case SYS_close:
		return as_libc(close((int)a[0])) < 0 ? -errno : 0;
	case SYS_close_range:
		return close_range((unsigned int)a[0], (unsigned int)a[1], (int)a[2]) ? -errno : 0;
#ifdef SYS_dup2
	case SYS_dup2:
		fd = dup2((int)a[0], (int)a[1]);
		return fd < 0 ? -errno : fd;
#endif
	case SYS_dup3:
		fd = dup3((int)a[0], (int)a[1], (int)a[2]);
		return fd < 0 ? -errno : fd;
	case SYS_prctl:
		return prctl((int)a[0], a[1], a[2], a[3], a[4]) < 0 ? -errno : 0;
	case SYS_seccomp:
		binds_filter(a[0] == SECCOMP_SET_MODE_FILTER ? (unsigned long)a[1] : 0);
		break;
	case SYS_sched_setaffinity:
	case SYS_sched_setscheduler:
	case SYS_sched_setparam:
	case SYS_sched_setattr:
		binds_tid((int)a[0], "placement");
		break;
	case SYS_setpriority:
		return setpriority((__priority_which_t)a[0], (id_t)a[1], (int)a[2]) ? -errno : 0;
	case SYS_rt_sigaction:
		if (a[1])
			signals_note((int)a[0], SIG_ERR); /* maybe a handler */
		break;
	case SYS_sigaltstack:
		return sigaltstack((const stack_t *)a[0], (stack_t *)a[1]) ? -errno : 0;
	case SYS_tkill:
		return send_signal(number, (int)a[0], a);
	case SYS_tgkill:
	case SYS_rt_tgsigqueueinfo:
		return send_signal(number, (int)a[1], a);
	default:
		if (is_binding(number))
			binds_self("syscall");
		break;
	}
	if (!is_carried() || is_anywhere(number))
		result = raw6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	else
		result = call_at_home(number, a);
	if (result >= 0 && is_birth(number))
		watch_forget((int)result);
	return result;
}

EXPORT long syscall(long number, ...)
{
	va_list list;
	long a[6];
	int i;

	va_start(list, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return as_libc(dispatch(number, a));
}

EXPORT pid_t gettid(void)
{
	return is_carried() ? ferry_self.tid : (pid_t)raw3(SYS_gettid, 0, 0, 0);
}

EXPORT int tgkill(pid_t group, pid_t tid, int signal)
{
	const long a[6] = { group, tid, signal };

	return (int)as_libc(send_signal(SYS_tgkill, tid, a));
}

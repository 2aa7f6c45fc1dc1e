// SPDX-License-Identifier: MIT
/* Signals, stops, freezes, tracers, filters and credentials; see weather.h. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "program.h"
#include "tests/lib/conformance/contract/write_file.h"
#include "weather.h"

#define MOST_FILTERS 3 /* each costs every later call some time */
#define MOST_STOPS 12  /* of a tracer, one after the other */
#define WAITS 100000   /* of 0.1 ms or more, for a thread to stop */

static const int signals[] = { RESTARTING, BREAKING };

/* Of this run alone: one that was killed may have left its group frozen. */
static char group[] = "/sys/fs/cgroup/ferry-storm-XXXXXX";

static void moment(struct random *random)
{
	usleep((unsigned int)random_below(random, 400));
}

/* ---- from within ---- */

static void ignore(int signal)
{
	(void)signal;
}

/* Answers a call that a filter trapped. */
static void answer(int signal, siginfo_t *info, void *context)
{
	ucontext_t *caller = context;

	(void)signal;
	if (info->si_syscall != SYS_getppid)
		_exit(3);
#if defined(__x86_64__)
	caller->uc_mcontext.gregs[REG_RAX] = FILTERED_RESULT;
#elif defined(__aarch64__)
	caller->uc_mcontext.regs[0] = FILTERED_RESULT;
#elif defined(__riscv)
	caller->uc_mcontext.__gregs[REG_A0] = FILTERED_RESULT;
#endif
}

void weather_prepare(void)
{
	struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };

	sigaction(RESTARTING, &action, NULL);
	action.sa_flags = 0;
	sigaction(BREAKING, &action, NULL);
	action.sa_sigaction = answer;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGSYS, &action, NULL);
}

void weather_ignore(void)
{
	signal(RESTARTING, SIG_IGN);
	signal(BREAKING, SIG_IGN);
}

void weather_start_timer(struct random *random)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = signals[random_below(random, 2)] };
	long first = (long)(20000 + random_below(random, 400000));
	/* A slow machine would do nothing but handle signals that come faster. */
	long later = (long)(1000000 + random_below(random, 4000000));
	const struct itimerspec when = { { 0, later }, { 0, first } };
	timer_t timer;

	if (!timer_create(CLOCK_MONOTONIC, &event, &timer))
		timer_settime(timer, 0, &when, NULL);
}

void weather_filter(unsigned int action, unsigned int flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

/* For all threads, which no longer agree on getppid() from some slot on. */
static void add_filter(struct random *random, int *filters)
{
	unsigned int action =
		random_percent(random, 50) ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | FILTERED_ERRNO;

	if (++*filters <= MOST_FILTERS)
		weather_filter(action, SECCOMP_FILTER_FLAG_TSYNC);
}

/* glibc makes every thread change its credentials, by a signal. */
static void change_credentials(struct random *random)
{
	if (setegid((gid_t)random_below(random, 3)) || seteuid(0))
		return; /* not root: they stay */
	prctl(PR_SET_DUMPABLE, 1);
}

void weather_within(struct random *random, const pid_t tids[], int count, int *filters)
{
	moment(random);
	switch (random_below(random, 12)) {
	case 0:
		change_credentials(random);
		break;
	case 1:
		if (random_percent(random, 5))
			add_filter(random, filters);
		break;
	case 2:
		kill(getpid(), signals[random_below(random, 2)]);
		break;
	default:
		syscall(SYS_tgkill, getpid(), tids[random_below(random, (unsigned long)count)],
			signals[random_below(random, 2)]);
	}
}

/* ---- from outside ---- */

static bool write_to_group(const char *file, const char *text)
{
	char path[sizeof(group) + 16];

	snprintf(path, sizeof(path), "%s/cgroup.%s", group, file);
	return write_file(path, text);
}

void weather_make_cgroup(void)
{
	mkdtemp(group);
}

void weather_enter_cgroup(void)
{
	write_to_group("procs", "0");
}

void weather_remove_cgroup(void)
{
	rmdir(group);
}

static void freeze(struct random *random)
{
	if (write_to_group("freeze", "1"))
		moment(random);
	write_to_group("freeze", "0");
}

/* Waits until thread TID stops.  False if it ends, or does not stop. */
static bool wait_for_stop(pid_t tid, int *status)
{
	int i;

	for (i = 0; i < WAITS; i++) {
		pid_t found = waitpid(tid, status, __WALL | WNOHANG);

		if (found == tid)
			return WIFSTOPPED(*status);
		if (found < 0)
			return false;
		usleep(100);
	}
	return false;
}

/* The signal of a signal-delivery stop, or 0 at another stop. */
static int delivered(int status)
{
	int signal = WSTOPSIG(status);

	return status >> 16 || signal == (SIGTRAP | 0x80) ? 0 : signal;
}

void weather_let_go(pid_t tid, int status)
{
	ptrace(PTRACE_DETACH, tid, 0, delivered(status));
}

/* The signal that the tracer passes on at a stop, which rarely is another or none. */
static int signal_of(struct random *random, int status)
{
	int signal = delivered(status);

	if ((signal == RESTARTING || signal == BREAKING) && random_percent(random, 20))
		return random_percent(random, 50) ? 0 : signals[random_below(random, 2)];
	return signal;
}

static sigjmp_buf given_up;

static void give_up(int signal)
{
	siglongjmp(given_up, signal);
}

/*
 * Seizes thread TID.  The call waits while the thread's process executes a program, and that waits
 * until those of its threads are reaped that are traced already.  Only their tracer, this thread,
 * can do that, so it gives up after a while: see the kernel's selftests/ptrace/vmaccess.c.
 */
static bool seize(pid_t tid)
{
	const struct itimerval limit = { .it_value = { .tv_usec = 200000 } }, none = { 0 };
	bool seized;

	if (sigsetjmp(given_up, 1))
		return false;
	signal(SIGALRM, give_up);
	setitimer(ITIMER_REAL, &limit, NULL);
	seized = !ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD);
	setitimer(ITIMER_REAL, &none, NULL);
	return seized;
}

/* Follows thread TID for some stops.  Whoever waits for its process detaches it if this cannot. */
static void trace(struct random *random, pid_t tid)
{
	bool steps = random_percent(random, 50);
	int left = 1 + (int)random_below(random, MOST_STOPS);
	int status;

	if (!seize(tid))
		return;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return;
	while (wait_for_stop(tid, &status)) {
		int signal = signal_of(random, status);

		if (!left--) {
			ptrace(PTRACE_DETACH, tid, 0, signal);
			return;
		}
		if (ptrace(steps ? PTRACE_SYSCALL : PTRACE_CONT, tid, 0, signal))
			return;
		if (!steps && ptrace(PTRACE_INTERRUPT, tid, 0, 0))
			return;
	}
}

void weather_outside(struct random *random, pid_t pid, const pid_t tids[], int count)
{
	moment(random);
	switch (random_below(random, 5)) {
	case 0:
		freeze(random);
		break;
	case 1:
		trace(random, tids[random_below(random, (unsigned long)count)]);
		break;
	case 2:
		kill(pid, signals[random_below(random, 2)]);
		break;
	default:
		kill(pid, SIGSTOP);
		moment(random);
		if (random_percent(random, 50))
			kill(pid, signals[random_below(random, 2)]);
		kill(pid, SIGCONT);
	}
}

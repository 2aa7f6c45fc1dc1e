// SPDX-License-Identifier: MIT
#include "steps.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/memory.h"
#include "interrupt.h"
#include "statistics.h"

#define FEW 64
#define MANY 192
#define MOST 1000000 /* steps, some seconds: nothing here takes so many */
#define WINDOWS 11

#if !defined(__has_feature)
#define __has_feature(name) 0
#endif

/* A sanitizer's instructions are not the code's, and take long to count. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static _Noreturn void run_traced(void (*run)(unsigned long calls), unsigned long calls)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
		_exit(1);
	run(calls);
	_exit(0);
}

/* Waits for CHILD to stop again: false when it has ended, with its status in *STATUS. */
static int wait_for_stop(pid_t child, int *status)
{
	while (waitpid(child, status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return WIFSTOPPED(*status);
}

#if defined(__x86_64__)
#include <stddef.h>
#include <sys/user.h>

/* A repeated string instruction stops after every element, at itself. */
static long place_of(pid_t child)
{
	return ptrace(PTRACE_PEEKUSER, child, offsetof(struct user, regs.rip), NULL);
}
#else
static long place_of(pid_t child)
{
	static long place;

	(void)child;
	return ++place;
}
#endif

/* -1 where nothing can be counted. */
static long steps_of(void (*run)(unsigned long calls), unsigned long calls)
{
	long steps = 0, place = 0, before;
	pid_t child;
	int status = 0;

	fflush(NULL);
	child = fork();
	if (!child)
		run_traced(run, calls);
	while (child > 0 && wait_for_stop(child, &status)) {
		before = place;
		place = place_of(child);
		steps += place != before;
		if (steps < MOST && !ptrace(PTRACE_SINGLESTEP, child, NULL, NULL))
			continue;
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		return -1;
	}
	return child > 0 && WIFEXITED(status) && !WEXITSTATUS(status) ? steps : -1;
}

double instructions_per_call(void (*run)(unsigned long calls))
{
	long few = SANITIZED ? -1 : steps_of(run, FEW);
	long many = few < 0 ? -1 : steps_of(run, MANY);

	return few < 0 || many < 0 ? NAN : (double)(many - few) / (MANY - FEW);
}

/* Steps until *COUNT changes, or -1. */
static long steps_until_change(pid_t child, const volatile long *count)
{
	long before = *count, steps = 0;
	int status;

	for (; *count == before; steps++)
		if (steps == MOST || ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
		    !wait_for_stop(child, &status))
			return -1;
	return steps;
}

/* The first change is where counting starts. */
static long look_at_one(pid_t child, const volatile long *count)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	long steps = -1;
	int status;

	nanosleep(&pause, NULL);
	if (ptrace(PTRACE_INTERRUPT, child, NULL, NULL) || !wait_for_stop(child, &status))
		return -1;
	if (steps_until_change(child, count) >= 0)
		steps = steps_until_change(child, count);
	return ptrace(PTRACE_CONT, child, NULL, NULL) ? -1 : steps;
}

double instructions_between(void (*run)(volatile long *count))
{
	volatile long *count = share(sizeof(*count));
	double steps[WINDOWS];
	size_t found = 0;
	long taken = SANITIZED ? -1 : 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(count);
		_exit(0);
	}
	if (child < 0 || ptrace(PTRACE_SEIZE, child, NULL, NULL))
		taken = -1;
	while (taken >= 0 && found < WINDOWS && !interrupted()) {
		taken = look_at_one(child, count);
		steps[found++] = (double)taken;
	}
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	unshare_memory((void *)count, sizeof(*count));
	return taken < 0 || found < WINDOWS ? NAN : median_of(steps, found);
}

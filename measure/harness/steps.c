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
#include "clock.h"
#include "interrupt.h"
#include "process.h"
#include "statistics.h"

#define SLOTS_OF_PAGE 64 /* the loop checks of each page that it can be read */
#define FEW 8
#define MANY (FEW + SLOTS_OF_PAGE)
#define MOST 1000000 /* steps: nothing here takes so many */

#define PAUSE_NS 2000000     /* between two looks at a child that runs */
#define START_NS 10000000000 /* at most, before a child counts */

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

/* Waits for CHILD to stop again: false when it has ended. */
static bool wait_for_stop(pid_t child)
{
	int status;

	return TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) == child && WIFSTOPPED(status);
}

#if defined(__x86_64__)
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

/*
 * Until CHILD has counted it prepares itself, which step by step might take a minute.  The count is
 * a word in shared memory, so this polls.
 */
static bool has_begun(pid_t child, const volatile long *count)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	double end = now_ns() + START_NS;

	while (!*count && !child_has_ended(child) && !interrupted() && now_ns() < end)
		nanosleep(&pause, NULL);
	return *count;
}

/* Steps until *COUNT changes, or -1. */
static long steps_until_change(pid_t child, const volatile long *count)
{
	long counted = *count, steps = 0, place = 0, before;

	while (*count == counted) {
		if (steps == MOST || interrupted() ||
		    ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) || !wait_for_stop(child))
			return -1;
		before = place;
		place = place_of(child);
		steps += place != before;
	}
	return steps;
}

/* The first change is where counting starts. */
static long look_at_one(pid_t child, const volatile long *count)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	long steps = -1;

	nanosleep(&pause, NULL);
	if (ptrace(PTRACE_INTERRUPT, child, NULL, NULL) || !wait_for_stop(child))
		return -1;
	if (steps_until_change(child, count) >= 0)
		steps = steps_until_change(child, count);
	return ptrace(PTRACE_CONT, child, NULL, NULL) ? -1 : steps;
}

double instructions_between(void (*run)(volatile long *count), size_t windows)
{
	volatile long *count = share(sizeof(*count));
	double steps[MOST_WINDOWS];
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
	if (child < 0 || ptrace(PTRACE_SEIZE, child, NULL, NULL) || !has_begun(child, count))
		taken = -1;
	while (taken >= 0 && found < windows && !interrupted()) {
		taken = look_at_one(child, count);
		steps[found++] = (double)taken;
	}
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	unshare_memory((void *)count, sizeof(*count));
	return taken < 0 || found < windows ? NAN : median_of(steps, found);
}

/* ---- the slope between two numbers of calls ---- */

static void (*counted_run)(unsigned long calls);
static unsigned long counted_calls;

static void repeat(volatile long *count)
{
	for (;; ++*count)
		counted_run(counted_calls);
}

double instructions_per_call(void (*run)(unsigned long calls))
{
	double few, many;

	counted_run = run;
	counted_calls = FEW;
	few = instructions_between(repeat, 1);
	counted_calls = MANY;
	many = instructions_between(repeat, 1);
	return (many - few) / SLOTS_OF_PAGE;
}

// SPDX-License-Identifier: MIT
/*
 * A tracepoint of system calls makes every call of the machine dearer, and a program cannot see
 * that it is on, except by this price.  So each run takes the time of a bare call, in units of
 * work in user mode, and a file keeps the least one since the machine booted: where a call costs
 * far more than that, something watches.  A watcher that is there from the first run on is not
 * found: it is part of the price of a call on this machine.
 */
#include "watch.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry/rawcall.h>

#include "clock.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/record.h"
#include "empty.h"
#include "machine.h"
#include "process.h"

#define TRIES 400
#define CALLS 64

/*
 * Times the least call.  Measured on Linux 6.18 with ferry trace beside it: 1.7 on an Intel Xeon,
 * 2.0 on an AMD EPYC (Zen 3), and 1.0 to 1.15 alone.
 */
#define FAR_MORE 1.3

/* ---- by time ---- */

static double time_calls(void)
{
	double start = clock_now();
	int i;

	for (i = 0; i < CALLS; i++)
		ferry_rawcall(UNIMPLEMENTED, 0, 0, 0, 0, 0, 0);
	return clock_now() - start;
}

/* In libm, whose code is the same for all builds of this program. */
static double time_user_mode(void)
{
	volatile double value = 4.5;
	double start = clock_now();
	int i;

	for (i = 0; i < CALLS; i++)
		value = 4 + tgamma(value) / 100;
	return clock_now() - start;
}

/* Always the same CPU, as the CPUs of one machine may differ. */
static void take_first_cpu(void)
{
	int cpu = 0;

	while (cpu < CPU_SETSIZE && use_cpus(cpu, -1))
		cpu++;
}

/* The least times, which a busy machine hardly changes; in turn, as the CPU's frequency changes. */
static int measure_call(void *context)
{
	double *cost = context, calls = INFINITY, user = INFINITY;
	int i;

	take_first_cpu();
	for (i = 0; i < TRIES; i++) {
		calls = fmin(calls, time_calls());
		user = fmin(user, time_user_mode());
	}
	*cost = calls / user;
	return 0;
}

/* Of a call, in calls of libm; NAN where it says nothing: a filter of this process is in it. */
static double cost_of_call(void)
{
	double *shared, call = NAN;

	if (prctl(PR_GET_SECCOMP) != 0)
		return NAN;
	shared = share(sizeof(*shared));
	if (!run_in_child(measure_call, shared))
		call = *shared;
	unshare_memory(shared, sizeof(*shared));
	return call;
}

/* ---- the least call since the machine booted ---- */

/* The file that keeps it, or NULL where there is no place to keep it. */
static const char *file_of_least(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *directory;

	if (!cache || *cache != '/') {
		if (!home || *home != '/')
			return NULL;
		cache = keep_text("%s/.cache", home);
	}
	directory = keep_text("%s/ferry", cache);
	mkdir(cache, 0700);
	mkdir(directory, 0777);
	return access(directory, W_OK) ? NULL : keep_text("%s/least-call", directory);
}

/* INFINITY where there is none. */
static double read_least(const char *file, const char *boot)
{
	const char *line = first_line(file);
	size_t length = strlen(boot);
	double least;

	if (!line || strncmp(line, boot, length) != 0)
		return INFINITY;
	least = strtod(line + length, NULL);
	return least > 0 ? least : INFINITY;
}

static bool costs_far_more(void)
{
	const char *boot = first_line("/proc/sys/kernel/random/boot_id"), *file, *line;
	double call = cost_of_call(), least;

	file = boot && !isnan(call) ? file_of_least() : NULL;
	if (!file)
		return false;
	least = read_least(file, boot);
	if (call < least) {
		line = keep_text("%s %.6f\n", boot, call);
		/* Where it cannot be kept, a later run has nothing to compare with. */
		try_to_write_file(file, line, strlen(line));
	}
	return call > FAR_MORE * least;
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
	if (clock_counts_instructions() || !costs_far_more())
		return NULL;
	return "a system call takes much longer than in an earlier run: something watches every "
	       "call "
	       "(another ferry trace, perf trace, Falco or audit), or the processor is shared";
}

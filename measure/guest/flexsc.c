// SPDX-License-Identifier: MIT
/* What a call costs that is posted to a runner by user-level threads, and what a plain one. */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ferry_flexsc.h>

#include "options.h"
#include "sweep.h"

static const char usage[] =
	"Usage: flexsc [--passes N]\n"
	"Prints a JSON line per call: ns of a plain one and of one posted by 64 user-level\n"
	"threads, in each of N (5) passes; and one of the CPU time of an idle runner in a second.\n"
	"\n"
	"Example: flexsc --passes 11\n";

#define THREADS 64
#define CALLS 32000 /* of one pass */

struct measured {
	const char *name;
	long nr;
	double plain[MAX_PASSES], posted[MAX_PASSES];
};

static int file;

static double now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *call(void *argument)
{
	const struct measured *measured = argument;
	int i;

	for (i = 0; i < CALLS / THREADS; i++)
		ferry_thread_call3(measured->nr, file, (long)"x", 1);
	return NULL;
}

static double posted_ns(struct ferry_flexsc *flexsc, struct measured *measured)
{
	struct ferry_thread *threads[THREADS];
	double start = now_ns(CLOCK_MONOTONIC);
	int i, error;

	for (i = 0; i < THREADS; i++) {
		error = ferry_thread_spawn(&threads[i], flexsc, call, measured);
		if (error)
			errx(1, "no user-level thread: %s", strerror(-error));
	}
	for (i = 0; i < THREADS; i++)
		ferry_thread_join(threads[i], NULL);
	return (now_ns(CLOCK_MONOTONIC) - start) / CALLS;
}

/* Outside of user-level threads the same code makes plain calls. */
static double plain_ns(struct measured *measured)
{
	double start = now_ns(CLOCK_MONOTONIC);

	call(measured);
	return (now_ns(CLOCK_MONOTONIC) - start) / (CALLS / THREADS);
}

static void print_values(const char *name, const double values[], int count)
{
	int i;

	printf(",\"%s\":[", name);
	for (i = 0; i < count; i++)
		printf("%s%.1f", i ? "," : "", values[i]);
	printf("]");
}

static void print_idle(const struct ferry_flexsc *flexsc)
{
	const struct timespec settle = { 0, 100000000 }, second = { 1, 0 };
	long before;

	nanosleep(&settle, NULL);
	before = ferry_flexsc_cpu_ns(flexsc);
	nanosleep(&second, NULL);
	printf("{\"bench\":\"flexsc\",\"unit\":\"ns\",\"call\":\"none\",\"idle_cpu\":[%ld]}\n",
	       ferry_flexsc_cpu_ns(flexsc) - before);
}

/* The caller on CPU 0, the runner on CPU 1. */
static struct ferry_flexsc *start_apart(void)
{
	static const int cpus[] = { 1 };
	const struct ferry_flexsc_options options = { .cpus = cpus };
	struct ferry_flexsc *flexsc;
	cpu_set_t own;
	int error = ferry_flexsc_start(&flexsc, &options);

	if (error)
		errx(1, "flexsc does not start on CPU 1: %s", strerror(-error));
	CPU_ZERO(&own);
	CPU_SET(0, &own);
	if (sched_setaffinity(0, sizeof(own), &own))
		err(1, "CPU 0");
	return flexsc;
}

int main(int argc, char *argv[])
{
	struct options options = read_options(argc, argv, usage);
	static struct measured calls[] = { { .name = "getpid", .nr = SYS_getpid },
					   { .name = "write", .nr = SYS_write } };
	struct ferry_flexsc *flexsc = start_apart();
	struct measured *measured;
	int pass;

	file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	for (measured = calls; measured < calls + 2; measured++) {
		posted_ns(flexsc, measured);
		for (pass = 0; pass < options.passes; pass++) {
			measured->plain[pass] = plain_ns(measured);
			measured->posted[pass] = posted_ns(flexsc, measured);
		}
		printf("{\"bench\":\"flexsc\",\"unit\":\"ns\",\"call\":\"%s\",\"in_kernel\":%s",
		       measured->name, ferry_flexsc_in_kernel(flexsc) ? "true" : "false");
		print_values("plain", measured->plain, options.passes);
		print_values("posted", measured->posted, options.passes);
		printf("}\n");
	}
	print_idle(flexsc);
	ferry_flexsc_stop(flexsc);
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

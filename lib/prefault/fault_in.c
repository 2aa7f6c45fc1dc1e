// SPDX-License-Identifier: MIT
/*
 * The calling thread maps the first pieces alone, and measures how long they take.  It asks for
 * help only if the rest would take far longer than waking a thread, and there are idle CPUs.
 * Pieces are aligned, so no two threads work in one page table or one large page.
 */
#include "fault_in.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <ferry/rawcall.h>

#include "lib/files/crew.h"
#include "memory_policy.h"
#include "room.h"

/* A rest that takes less, in ns, is done before helpers are awake and have caught up. */
#define WORTH_HELP 2000000L

/* Below this size, in bytes, the look at the system's memory would take a good part of the time. */
#define WORTH_A_LOOK ((size_t)32 << 20)

/* More threads wait for the memory, or for locks of the kernel. */
#define MOST_THREADS 16U

struct job {
	struct crew crew;
	struct fault_in *how;
	struct room room;
	struct memory_policy policy;
	cpu_set_t cpus; /* for helpers */
	atomic_uintptr_t next;
	atomic_uint next_cpu;
	atomic_int error;
	atomic_uint threads;
	atomic_ulong faults;
};

/* ---- clocks ---- */

static long read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static unsigned long faults(void)
{
	struct rusage usage = { 0 };

	ferry_rawcall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0);
	return (unsigned long)(usage.ru_minflt + usage.ru_majflt);
}

/* ---- pieces ---- */

/* The piece that begins at START, which ends where the next one is aligned. */
static struct pages piece_at(const struct fault_in *how, uintptr_t start)
{
	struct pages piece = how->pages;
	uintptr_t end = (start | (how->piece - 1)) + 1;

	piece.start = start;
	if (end > start && end < piece.end)
		piece.end = end;
	return piece;
}

static bool take(struct job *job, struct pages *piece)
{
	uintptr_t start = atomic_load_explicit(&job->next, memory_order_relaxed);

	do {
		if (start >= job->how->pages.end)
			return false;
		*piece = piece_at(job->how, start);
	} while (!atomic_compare_exchange_weak_explicit(
		&job->next, &start, piece->end, memory_order_relaxed, memory_order_relaxed));
	return true;
}

/* Maps the next piece.  Returns false when there is none, or after an error. */
static bool map_next(struct job *job)
{
	struct pages piece;
	int error, none = 0;

	if (atomic_load_explicit(&job->error, memory_order_relaxed) || !take(job, &piece))
		return false;
	error = ferry__room_take(&job->room, &piece) ? job->how->map(&piece) : -ENOMEM;
	if (error)
		atomic_compare_exchange_strong(&job->error, &none, error);
	return !error;
}

/* ---- helpers ---- */

/* Moves the calling helper to a CPU of its own. */
static void move_to_cpu(struct job *job)
{
	unsigned int skip = atomic_fetch_add_explicit(&job->next_cpu, 1, memory_order_relaxed);
	cpu_set_t one;
	int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &job->cpus) && !skip--)
			break;
	if (cpu == CPU_SETSIZE)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ferry_rawcall(SYS_sched_setaffinity, 0, sizeof(one), (long)&one, 0, 0, 0);
}

/* Whether the last piece took much longer than the thread worked: others need its CPU. */
static bool was_slow(long wall, long cpu)
{
	return wall > 2 * cpu;
}

static void map_until_slow(struct job *job)
{
	long wall = read_clock(CLOCK_MONOTONIC), cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
	long next_wall, next_cpu;

	while (map_next(job)) {
		next_wall = read_clock(CLOCK_MONOTONIC);
		next_cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
		if (was_slow(next_wall - wall, next_cpu - cpu))
			return;
		wall = next_wall;
		cpu = next_cpu;
	}
}

static void help(struct job *job)
{
	struct memory_policy before;
	unsigned long faults_before = faults();

	move_to_cpu(job);
	if (!ferry__memory_policy_take(&job->policy, &before))
		return;
	map_until_slow(job);
	ferry__memory_policy_return(&before);
	atomic_fetch_add(&job->faults, faults() - faults_before);
	atomic_fetch_add(&job->threads, 1);
}

static void work(struct member *member)
{
	struct job *job = (struct job *)member->crew;

	if (!member->is_caller)
		help(job);
	else
		while (map_next(job))
			;
}

/* ---- how many ---- */

/* The CPUs that nothing runs on now, by the system's count of running threads. */
static unsigned int idle_cpus(void)
{
	unsigned int running = UINT_MAX, cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	FILE *file = fopen("/proc/loadavg", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%*s %*s %*s %u/", &running) != 1)
		running = UINT_MAX;
	fclose(file);
	return running < cpus ? cpus - running : 0;
}

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* The helpers that have a CPU each; stores these CPUs. */
static unsigned int helpers_for(struct job *job)
{
	unsigned int cpu = 0, helpers;

	if (ferry_rawcall(SYS_sched_getaffinity, 0, sizeof(job->cpus), (long)&job->cpus, 0, 0, 0) <=
		    0 ||
	    ferry_rawcall(SYS_getcpu, (long)&cpu, 0, 0, 0, 0, 0))
		return 0;
	CPU_CLR(cpu, &job->cpus);
	helpers = min((unsigned int)CPU_COUNT(&job->cpus), MOST_THREADS - 1);
	if (helpers)
		helpers = min(helpers, idle_cpus());
	if (helpers)
		helpers = min(helpers, ferry__group_cpus(&SYSTEM_FILES) - 1);
	return helpers && ferry__memory_policy_of_caller(&job->policy) ? helpers : 0;
}

/* ---- the call ---- */

/* Maps alone until the rest is worth help.  Returns false when nothing is left. */
static bool map_first(struct job *job)
{
	long cpu = read_clock(CLOCK_THREAD_CPUTIME_ID), time;
	uintptr_t start = job->how->pages.start, next;
	size_t rest;

	while (map_next(job)) {
		next = atomic_load_explicit(&job->next, memory_order_relaxed);
		time = read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
		rest = job->how->pages.end - next;
		/* The first piece may be a single page. */
		if (next - start >= job->how->piece / 2 &&
		    (double)time * (double)rest / (double)(next - start) >= WORTH_HELP)
			return true;
	}
	return false;
}

static void run(struct job *job)
{
	struct ferry_files_options options = { 0 };
	unsigned int helpers;

	if (job->how->alone || !map_first(job)) {
		while (map_next(job))
			;
		return;
	}
	helpers = helpers_for(job);
	options.threads = helpers + 1;
	ferry__crew_init(&job->crew, work, &options);
	if (helpers)
		ferry__crew_run(&job->crew, helpers + 1);
	else
		ferry__crew_run_alone(&job->crew);
}

int ferry__fault_in(struct fault_in *how)
{
	struct job job = { .how = how, .next = how->pages.start, .threads = 1 };
	unsigned long before = faults();

	ferry__room_init(&job.room, &how->pages, ferry__pages_size(&how->pages) >= WORTH_A_LOOK);
	run(&job);
	ferry__room_destroy(&job.room);
	how->threads = job.threads;
	how->faults = job.faults + faults() - before;
	return job.error;
}

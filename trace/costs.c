// SPDX-License-Identifier: MIT
#include "costs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry_files.h>

#include "common/file.h"
#include "common/memory.h"
#include "measure/harness/clock.h"
#include "measure/harness/empty.h"
#include "measure/harness/machine.h"
#include "measure/harness/statistics.h"
#include "indirect.h"
#include "measure/harness/watch.h"
#include "partner.h"
#include "prefault.h"

#define TRIALS 24
#define CALLS 1024  /* in a trial */
#define BATCH 128   /* slots */
#define PAGES CALLS /* touched in a trial */
#define EXISTING "/"
#define LOOKS 10    /* for other programs */
#define NOTABLE 0.2 /* of a CPU: less hardly slows a call on all of them */

struct bench {
	enum ferry_engine engine;
	struct batch_slot slots[BATCH];
	long rets[BATCH];
	int file; /* in memory */
	int pipe[2];
	const struct partner *partner;
	const char *names[CALLS];
	struct statx stats[CALLS];
	int errors[CALLS];
};

static int memory_file(void)
{
	return memfd_create("ferry-trace", MFD_CLOEXEC);
}

/* What CLOCK counts per call of RUN, which makes CALLS of them, in ns. */
static struct figure counted_by(clockid_t clock, void (*run)(struct bench *bench),
				struct bench *bench)
{
	const struct bootstrap bootstrap = { .seed = 1, .resamples = 200 };
	double trials[TRIALS];
	struct summary summary;
	int i;

	run(bench);
	for (i = 0; i < TRIALS; i++) {
		double start = clock_ns(clock);

		run(bench);
		trials[i] = (clock_ns(clock) - start) / CALLS;
	}
	summary = summarize(trials, TRIALS, bootstrap);
	return (struct figure){ summary.median, summary.se };
}

/* CPU time, to which other programs on a busy machine add little. */
static struct figure cost_of(void (*run)(struct bench *bench), struct bench *bench)
{
	return counted_by(CLOCK_THREAD_CPUTIME_ID, run, bench);
}

/* For what other threads, or the kernel's, may do a part of. */
static struct figure elapsed_in(void (*run)(struct bench *bench), struct bench *bench)
{
	return counted_by(CLOCK_MONOTONIC, run, bench);
}

static struct way difference(struct figure slow, struct figure fast)
{
	return (struct way){ .saved = { slow.value - fast.value, hypot(slow.error, fast.error) } };
}

/*
 * Calls go through the C library, as those of programs do: where the kernel protects its returns
 * (Safe RET), the function that made a call is slow to return, too.
 */

/* ---- crossings and batches ---- */

static void cross(struct bench *bench)
{
	int i;

	(void)bench;
	for (i = 0; i < CALLS; i++)
		syscall(UNIMPLEMENTED);
}

struct figure measure_crossing(void)
{
	return cost_of(cross, NULL);
}

static void dispatch(struct bench *bench)
{
	int i;

	for (i = 0; i < CALLS / BATCH; i++)
		empty_loop(bench->rets, bench->slots, BATCH);
}

static void run_batches(struct bench *bench)
{
	int i;

	for (i = 0; i < CALLS / BATCH; i++)
		ferry_batch_on(bench->engine, bench->rets, bench->slots, BATCH, 0,
			       sizeof(struct batch_slot));
}

static void fill_slots(struct bench *bench, struct batch_slot slot)
{
	int i;

	for (i = 0; i < BATCH; i++)
		bench->slots[i] = slot;
}

/* By what an engine saves; without one, it would take the crossing and add the work on a slot. */
static void measure_batches(struct bench *bench, struct costs *costs)
{
	const char *why;

	fill_slots(bench, (struct batch_slot){ .nr = SYS_getppid });
	bench->engine = !ferry_engine_probe(FERRY_SYSCALL, &why) ? FERRY_SYSCALL : FERRY_DEVICE;
	if (!ferry_engine_probe(bench->engine, &why)) {
		const struct figure batched = cost_of(run_batches, bench);

		costs->batch_engine = ferry_engine_name(bench->engine);
		bench->engine = FERRY_LOOP;
		costs->batch = difference(cost_of(run_batches, bench), batched);
		return;
	}
	costs->batch = difference(costs->crossing, cost_of(dispatch, bench));
	costs->batch.saved.error += costs->crossing.value - costs->batch.saved.value;
}

/* ---- files ---- */

static void stat_one_by_one(struct bench *bench)
{
	int i;

	for (i = 0; i < CALLS; i++)
		syscall(SYS_statx, AT_FDCWD, bench->names[i], 0, STATX_BASIC_STATS,
			&bench->stats[i]);
}

static void stat_many(struct bench *bench)
{
	ferry_statx_many(AT_FDCWD, bench->names, CALLS, 0, STATX_BASIC_STATS, bench->stats,
			 bench->errors, NULL);
}

/* How many CPUs other programs use, on average over some milliseconds. */
static double look_at_others(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	double others = 0;
	int i;

	for (i = 0; i < LOOKS; i++) {
		nanosleep(&pause, NULL);
		others += fmax(0, (double)runnable_tasks() - 1);
	}
	return others / LOOKS;
}

/*
 * SAVING of a call that took SLOW by itself and that idle CPUs make faster, while others kept BUSY
 * of so many CPUs from it: its error has what they could save as well.
 */
static struct way on_busy_cpus(struct way saving, struct figure slow, double busy, double cpus)
{
	const double most = slow.value * (1 - 1 / cpus);

	if (busy < NOTABLE)
		return saving;
	saving.saved.error += fmax(0, most - saving.saved.value) * fmin(1, busy / cpus);
	saving.hindrance = keep_text("other programs kept %.1f of %.0f CPUs busy, and it gains by "
				     "idle ones: repeat on a quiet machine",
				     fmin(busy, cpus), cpus);
	return saving;
}

static void measure_files(struct bench *bench, struct costs *costs)
{
	struct figure slow;
	int i;

	for (i = 0; i < CALLS; i++)
		bench->names[i] = EXISTING;
	costs->busy_cpus = look_at_others() / 2;
	slow = elapsed_in(stat_one_by_one, bench);
	costs->path_call = slow;
	costs->statx_many = difference(slow, elapsed_in(stat_many, bench));
	costs->busy_cpus += look_at_others() / 2;
	costs->statx_many = on_busy_cpus(costs->statx_many, slow, costs->busy_cpus,
					 (double)sysconf(_SC_NPROCESSORS_ONLN));
}

/* ---- the time ---- */

static void trap_for_time(struct bench *bench)
{
	struct timespec now;
	int i;

	(void)bench;
	for (i = 0; i < CALLS; i++)
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

static void read_time(struct bench *bench)
{
	struct timespec now;
	int i;

	(void)bench;
	for (i = 0; i < CALLS; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

/* ---- tiny reads and writes ---- */

static void read_byte(struct bench *bench)
{
	char byte;
	int i;

	for (i = 0; i < CALLS; i++)
		syscall(SYS_pread64, bench->file, &byte, 1, 0);
}

/* Anew each time: the file stays below any limit of its size but 0 (RLIMIT_FSIZE). */
static void append_byte(struct bench *bench)
{
	char byte = 0;
	int i;

	lseek(bench->file, 0, SEEK_SET);
	if (ftruncate(bench->file, 0))
		errno = 0; /* a device */
	for (i = 0; i < CALLS; i++)
		syscall(SYS_write, bench->file, &byte, 1);
}

/* A file without a name, where the program may have its own; or one in memory. */
static int nameless_file(void)
{
	int file = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return file < 0 ? memory_file() : file;
}

static struct figure cost_on(int file, void (*run)(struct bench *bench), struct bench *bench)
{
	const int memory = bench->file;
	struct figure cost;

	bench->file = file;
	cost = cost_of(run, bench);
	bench->file = memory;
	return cost;
}

/* What it costs on FILE; other file systems differ as that one does from memory. */
static struct way cost_of_tiny(int file, void (*run)(struct bench *bench), struct bench *bench)
{
	const struct figure memory = cost_of(run, bench);
	struct figure cost = cost_on(file, run, bench);

	cost.error = hypot(cost.error, fabs(cost.value - memory.value) / 2);
	return (struct way){ .saved = cost };
}

/* A pipe holds that many bytes, so no call waits. */
static void pass_through_pipe(struct bench *bench)
{
	char byte = 0;
	int i;

	for (i = 0; i < CALLS; i++)
		syscall(SYS_write, bench->pipe[1], &byte, 1);
	for (i = 0; i < CALLS; i++)
		syscall(SYS_read, bench->pipe[0], &byte, 1);
}

static struct way cost_of_pipe(struct bench *bench)
{
	struct figure both;

	if (pipe2(bench->pipe, O_CLOEXEC))
		return (struct way){ .missing = "there is no pipe to measure with" };
	both = cost_of(pass_through_pipe, bench);
	close(bench->pipe[0]);
	close(bench->pipe[1]);
	return (struct way){ .saved = { both.value / 2, both.error / 2 } };
}

static void measure_tiny(struct bench *bench, struct costs *costs)
{
	const int file = nameless_file(), device = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* The first also puts something there to be read. */
	costs->tiny_write = cost_of_tiny(file, append_byte, bench);
	costs->tiny_read = cost_of_tiny(file, read_byte, bench);
	costs->tiny_pipe = cost_of_pipe(bench);
	costs->tiny_device.saved = cost_on(device, append_byte, bench);
	close(file);
	close(device);
}

/* ---- threads that take turns ---- */

#define CALLS_A_TURN 8
#define TURNS (CALLS / CALLS_A_TURN) /* there and back, in a trial */

static void take_turns(struct bench *bench)
{
	int i;

	for (i = 0; i < TURNS; i++)
		if (!partner_take_turn(bench->partner))
			return;
}

/* On one CPU, as the threads of a busy server are. */
static void stay_here(cpu_set_t *before)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	sched_getaffinity(0, sizeof(*before), before);
	sched_setaffinity(0, sizeof(here), &here);
}

static struct figure cost_of_turns(struct bench *bench, struct figure calls)
{
	struct figure both = counted_by(CLOCK_PROCESS_CPUTIME_ID, take_turns, bench);
	const double turns = 2.0 / CALLS_A_TURN;

	return (struct figure){ fmax(0, both.value / turns - 2 * calls.value),
				hypot(both.error / turns, 2 * calls.error) };
}

static void measure_turns(struct bench *bench, struct costs *costs)
{
	struct partner partner;
	cpu_set_t before;

	bench->partner = &partner;
	stay_here(&before);
	if (!partner_start(&partner)) {
		costs->turn = cost_of_turns(bench, costs->tiny_pipe.saved);
		partner_end(&partner);
	}
	sched_setaffinity(0, sizeof(before), &before);
}

/* ---- page faults ---- */

static void touch(volatile char *memory, size_t pages)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t i;

	for (i = 0; i < pages; i++)
		memory[i * page] = 1;
}

#define SMALL_LARGE_PAGE (64UL << 10)
#define LARGE_PAGE (2UL << 20) /* bytes, a multiple of every smaller one */

/* Memory for PAGES pages that begins with a large page; *WHOLE of *SIZE is to be unmapped. */
static char *aligned_memory(void **whole, size_t *size)
{
	const size_t wanted = PAGES * (size_t)sysconf(_SC_PAGESIZE);

	*size = wanted + LARGE_PAGE;
	*whole = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*whole == MAP_FAILED)
		return NULL;
	return (char *)(((uintptr_t)*whole + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1));
}

static void touch_pages(int advice)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size;
	void *whole;
	char *memory = aligned_memory(&whole, &size);

	if (!memory)
		return;
	madvise(memory, PAGES * page, advice);
	touch(memory, PAGES);
	munmap(whole, size);
}

static void fault(struct bench *bench)
{
	(void)bench;
	touch_pages(MADV_NOHUGEPAGE);
}

static void fault_large(struct bench *bench)
{
	(void)bench;
	touch_pages(MADV_HUGEPAGE);
}

/* No large page fits into what is advised to be one, so that the smaller sizes come into play. */
static void fault_several(struct bench *bench)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), part = PAGES / 4 * page;
	size_t size;
	void *whole;
	char *memory;
	int i;

	(void)bench;
	for (i = 0; i < 4; i++) {
		memory = aligned_memory(&whole, &size);
		if (!memory)
			return;
		madvise(memory + SMALL_LARGE_PAGE, part, MADV_HUGEPAGE);
		touch(memory + SMALL_LARGE_PAGE, PAGES / 4);
		munmap(whole, size);
	}
}

#define SIZES "/sys/kernel/mm/transparent_hugepage/"

static bool is_off(const char *file)
{
	const char *line = first_line(file);

	return !line || strstr(line, "[never]");
}

static bool follows(const char *file)
{
	const char *line = first_line(file);

	return line && strstr(line, "[inherit]");
}

static void measure_faults(struct bench *bench, struct costs *costs)
{
	const bool large = !is_off(SIZES "enabled");
	const bool several = follows(SIZES "hugepages-64kB/enabled") ?
				     large :
				     !is_off(SIZES "hugepages-64kB/enabled");

	costs->fault = cost_of(fault, bench);
	costs->prefault = measure_prefault();
	costs->large_pages.missing = "large pages are off in " SIZES "enabled";
	costs->several_pages.missing = "they are off in " SIZES "hugepages-64kB/enabled";
	if (large)
		costs->large_pages = difference(costs->fault, cost_of(fault_large, bench));
	if (several)
		costs->several_pages = difference(costs->fault, cost_of(fault_several, bench));
}

/* ---- processes ---- */

#define CALLS_A_PROCESS 256
#define PROCESSES (CALLS / CALLS_A_PROCESS) /* in a trial */

static void start_and_end(struct bench *bench)
{
	char *const argv[] = { "true", NULL };
	pid_t child;
	int i;

	(void)bench;
	for (i = 0; i < PROCESSES; i++)
		if (!posix_spawnp(&child, argv[0], NULL, NULL, argv, environ))
			waitpid(child, NULL, 0);
}

/* The CPU time of its children is none of this process's, but nobody else is waited for. */
struct figure measure_process(void)
{
	const struct figure elapsed = elapsed_in(start_and_end, NULL);
	const double processes = 1.0 / CALLS_A_PROCESS;

	return (struct figure){ elapsed.value / processes, elapsed.error / processes };
}

struct costs measure_costs(void)
{
	struct bench *bench = allocate(1, sizeof(*bench));
	struct costs costs = { .watched = watch_find(), .crossing = measure_crossing() };

	bench->file = memory_file();
	measure_batches(bench, &costs);
	measure_files(bench, &costs);
	costs.vdso = difference(cost_of(trap_for_time, bench), cost_of(read_time, bench));
	measure_tiny(bench, &costs);
	measure_turns(bench, &costs);
	measure_faults(bench, &costs);
	measure_indirect(costs.indirect);
	close(bench->file);
	free(bench);
	return costs;
}

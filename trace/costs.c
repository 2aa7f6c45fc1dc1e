// SPDX-License-Identifier: MIT
#include "costs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry_files.h>
#include <ferry_prefault.h>

#include "common/memory.h"
#include "measure/harness/clock.h"
#include "measure/harness/empty.h"
#include "measure/harness/machine.h"
#include "measure/harness/statistics.h"
#include "measure/harness/watch.h"

#define TRIALS 24
#define CALLS 1024  /* in a trial */
#define BATCH 128   /* slots */
#define PAGES CALLS /* touched in a trial */
#define EXISTING "/"
#define LOOKS 10    /* for other programs */
#define NOTABLE 0.2 /* of a CPU: less hardly slows a call on all of them */

struct bench {
	enum ferry_engine engine;
	struct ferry_slot slots[BATCH];
	long rets[BATCH];
	int file; /* in memory */
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
			       sizeof(struct ferry_slot));
}

static void fill_slots(struct bench *bench, struct ferry_slot slot)
{
	int i;

	for (i = 0; i < BATCH; i++)
		bench->slots[i] = slot;
}

/* By what an engine saves; without one, it would take the crossing and add the work on a slot. */
static void measure_batches(struct bench *bench, struct costs *costs)
{
	const char *why;

	fill_slots(bench, (struct ferry_slot){ .nr = SYS_getppid });
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

static void measure_tiny(struct bench *bench, struct costs *costs)
{
	const int file = nameless_file(), device = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* The first also puts something there to be read. */
	costs->tiny_write = cost_of_tiny(file, append_byte, bench);
	costs->tiny_read = cost_of_tiny(file, read_byte, bench);
	costs->tiny_device.saved = cost_on(device, append_byte, bench);
	close(file);
	close(device);
}

/* ---- page faults ---- */

static void touch(volatile char *memory, size_t page)
{
	size_t i;

	for (i = 0; i < PAGES; i++)
		memory[i * page] = 1;
}

static void touch_pages(bool ahead)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return;
	madvise(memory, size, MADV_NOHUGEPAGE);
	if (ahead)
		ferry_prefault(memory, size, FERRY_PREFAULT_WRITE, NULL);
	touch(memory, page);
	munmap(memory, size);
}

static void fault(struct bench *bench)
{
	(void)bench;
	touch_pages(false);
}

static void fault_ahead(struct bench *bench)
{
	(void)bench;
	touch_pages(true);
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
	costs.prefault = difference(cost_of(fault, bench), cost_of(fault_ahead, bench));
	close(bench->file);
	free(bench);
	return costs;
}

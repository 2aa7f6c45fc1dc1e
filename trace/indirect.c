// SPDX-License-Identifier: MIT
#include "indirect.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "measure/harness/clock.h"
#include "measure/harness/statistics.h"

#define TRIALS 24
#define TURNS 32 /* in a trial: work, and a call */
#define LINE 64	 /* bytes */
#define FUNCTIONS 256
#define LARGEST 2048 /* lines of data: 128 KiB */

/* ---- work ---- */

/* One of many small functions, none of which is like another. */
#define FUNCTION(name)                                                                 \
	static __attribute__((noinline)) unsigned long name(const unsigned char *line, \
							    unsigned long x)           \
	{                                                                              \
		if (x & 1)                                                             \
			return (x + line[x % LINE]) * (2 * __COUNTER__ + 3);           \
		return (x ^ line[x % LINE]) + __COUNTER__;                             \
	}
#define FUNCTIONS_4(name) FUNCTION(name##0) FUNCTION(name##1) FUNCTION(name##2) FUNCTION(name##3)
#define FUNCTIONS_16(name) \
	FUNCTIONS_4(name##0) FUNCTIONS_4(name##1) FUNCTIONS_4(name##2) FUNCTIONS_4(name##3)
#define FUNCTIONS_64(name) \
	FUNCTIONS_16(name##0) FUNCTIONS_16(name##1) FUNCTIONS_16(name##2) FUNCTIONS_16(name##3)

FUNCTIONS_64(work_0)
FUNCTIONS_64(work_1)
FUNCTIONS_64(work_2)
FUNCTIONS_64(work_3)

/* All of them, one after the other, each with another line of DATA. */
#define CALL(name) x = name(line += LINE, x);
#define CALLS_4(name) CALL(name##0) CALL(name##1) CALL(name##2) CALL(name##3)
#define CALLS_16(name) CALLS_4(name##0) CALLS_4(name##1) CALLS_4(name##2) CALLS_4(name##3)
#define CALLS_64(name) CALLS_16(name##0) CALLS_16(name##1) CALLS_16(name##2) CALLS_16(name##3)

static unsigned long call_all(const unsigned char *line, unsigned long x)
{
	CALLS_64(work_0)
	CALLS_64(work_1)
	CALLS_64(work_2)
	CALLS_64(work_3)
	return x;
}

struct bench {
	unsigned char *data;
	size_t lines; /* of it that are used */
	int file;
	struct stat status;
	volatile unsigned long result;
};

static void work(struct bench *bench)
{
	unsigned long x = bench->result;
	size_t i;

	for (i = 0; i < bench->lines; i += FUNCTIONS)
		x = call_all(bench->data + i * LINE, x);
	bench->result = x;
}

/* ---- calls ---- */

static void call_nothing(struct bench *bench)
{
	bench->result += (unsigned long)getppid();
}

static void read_file(struct bench *bench)
{
	unsigned char byte;

	bench->result += (unsigned long)pread(bench->file, &byte, 1, 0);
}

static void ask_path(struct bench *bench)
{
	bench->result += (unsigned long)stat("/usr/share", &bench->status);
}

/* ---- measuring ---- */

/* ns of a turn. */
static double alternating(struct bench *bench, void (*call)(struct bench *bench))
{
	const double start = now_ns();
	int i;

	for (i = 0; i < TURNS; i++) {
		work(bench);
		call(bench);
	}
	return (now_ns() - start) / TURNS;
}

static double grouped(struct bench *bench, void (*call)(struct bench *bench))
{
	const double start = now_ns();
	int i;

	for (i = 0; i < TURNS; i++)
		work(bench);
	for (i = 0; i < TURNS; i++)
		call(bench);
	return (now_ns() - start) / TURNS;
}

static struct figure cost_with(struct bench *bench, size_t lines, void (*call)(struct bench *bench))
{
	const struct bootstrap bootstrap = { .seed = 1, .resamples = 200 };
	double trials[TRIALS];
	struct summary summary;
	size_t i;

	bench->lines = lines;
	alternating(bench, call);
	for (i = 0; i < TRIALS; i++)
		trials[i] = alternating(bench, call) - grouped(bench, call);
	summary = summarize(trials, TRIALS, bootstrap);
	return (struct figure){ summary.median, summary.se };
}

static struct figure cost_of(struct bench *bench, void (*call)(struct bench *bench))
{
	const struct figure few = cost_with(bench, FUNCTIONS, call);
	const struct figure many = cost_with(bench, LARGEST, call);

	return (struct figure){ fmax(0, (few.value + many.value) / 2),
				hypot(hypot(few.error, many.error) / 2,
				      (many.value - few.value) / 2) };
}

void measure_indirect(struct figure indirect[CALL_KINDS])
{
	static void (*const calls[CALL_KINDS])(struct bench * bench) = {
		[OF_NOTHING] = call_nothing, [OF_FILE] = read_file, [OF_PATH] = ask_path
	};
	struct bench bench = { .data = allocate(LARGEST + 1, LINE) };
	int kind;

	bench.file = memfd_create("ferry-trace", MFD_CLOEXEC);
	if (bench.file >= 0 && write(bench.file, "", 1) != 1)
		bench.result++; /* the call reads nothing, and goes nearly as far */
	for (kind = 0; kind < CALL_KINDS; kind++)
		indirect[kind] = cost_of(&bench, calls[kind]);
	if (bench.file >= 0)
		close(bench.file);
	free(bench.data);
}

bool indirect_is_known(struct figure indirect)
{
	return indirect.value > indirect.error;
}

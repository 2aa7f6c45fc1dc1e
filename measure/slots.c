// SPDX-License-Identifier: MIT
/*
 * What a call costs in a loop and in a batch of batch(2), in ns: instructions in a guest that
 * counts them.  It needs no library, so that it runs on machines for which there is no more than
 * a compiler.
 *
 *	slots [--json FILE]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry/batchcall.h>

#include "monotonic.h"

#define MOST 2000 /* calls; a line through half as many and these leaves out the crossing */
#define TRIALS 5
#define ABSENT 490 /* within the table, and no kernel has it */

struct call {
	const char *name;
	struct batch_slot slot;
	double loop, batch; /* ns per call */
};

static struct batch_slot slots[MOST];
static long rets[MOST];

static void run_loop(long count)
{
	long i;

	for (i = 0; i < count; i++) {
		const struct batch_slot *s = &slots[i];

		rets[i] = ferry_rawcall(s->nr, s->arg[0], s->arg[1], s->arg[2], s->arg[3],
					s->arg[4], s->arg[5]);
	}
}

static void run_batch(long count)
{
	if (ferry_batchcall(rets, slots, (unsigned long)count) != count - 1) {
		fprintf(stderr, "slots: a batch ended early\n");
		exit(1);
	}
}

/* The shortest of TRIALS times of COUNT calls: an interrupt only adds to one. */
static uint64_t shortest(void (*run)(long count), long count)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < TRIALS; i++) {
		const uint64_t start = now();
		uint64_t took;

		run(count);
		took = now() - start;
		if (took < best)
			best = took;
	}
	return best;
}

static double per_call(void (*run)(long count))
{
	const uint64_t half = shortest(run, MOST / 2);

	return ((double)shortest(run, MOST) - (double)half) / (MOST - MOST / 2);
}

static void measure(struct call *call)
{
	long i;

	for (i = 0; i < MOST; i++)
		slots[i] = call->slot;
	run_loop(MOST);
	run_batch(MOST);
	call->loop = per_call(run_loop);
	call->batch = per_call(run_batch);
}

static void print_table(const struct call calls[], size_t count)
{
	size_t i;

	printf("%-14s %9s %9s %9s\n", "call", "loop", "batch", "saved");
	for (i = 0; i < count; i++)
		printf("%-14s %9.1f %9.1f %9.1f\n", calls[i].name, calls[i].loop, calls[i].batch,
		       calls[i].loop - calls[i].batch);
}

static int write_json(const char *path, const struct call calls[], size_t count)
{
	FILE *file = fopen(path, "w");
	size_t i;

	if (!file) {
		fprintf(stderr, "slots: %s: %s\n", path, strerror(errno));
		return 1;
	}
	fprintf(file, "{\"calls\": [");
	for (i = 0; i < count; i++)
		fprintf(file, "%s{\"call\": \"%s\", \"loop\": %.1f, \"batch\": %.1f}",
			i ? ", " : "", calls[i].name, calls[i].loop, calls[i].batch);
	fprintf(file, "]}\n");
	return fclose(file) != 0;
}

#define SLOT(number, ...)                                                      \
	{                                                                      \
		.nr = (number), .argc = BATCH_MAX_ARGS, .arg = { __VA_ARGS__ } \
	}

int main(int argc, char **argv)
{
	static struct stat status;
	static char byte;
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct call calls[] = {
		{ .name = "unimplemented", .slot = SLOT(ABSENT) },
		{ .name = "getppid", .slot = SLOT(SYS_getppid) },
		{ .name = "write", .slot = SLOT(SYS_write, null, (long)&byte, 1) },
		{ .name = "fstat", .slot = SLOT(SYS_fstat, null, (long)&status) },
	};
	const size_t count = sizeof(calls) / sizeof(calls[0]);
	const int json = argc == 3 && !strcmp(argv[1], "--json");
	size_t i;

	if (argc != 1 && !json) {
		fprintf(stderr, "usage: slots [--json FILE]\n");
		return 2;
	}
	if (ferry_failed(ferry_rawcall(FERRY_NR_BATCH, 0, 0, 0, 0, 0, 0))) {
		fprintf(stderr, "slots: this kernel does not have the batch system call\n");
		return 1;
	}
	for (i = 0; i < count; i++)
		measure(&calls[i]);
	print_table(calls, count);
	return json ? write_json(argv[2], calls, count) : 0;
}

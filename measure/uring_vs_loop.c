// SPDX-License-Identifier: MIT
/*
 * Loop against uring, or auto, for small calls: nanoseconds per slot, translation
 * included, both sides in turn in one run.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ferry.h>
#include <jansson.h>

#include "measure/harness/clock.h"
#include "measure/harness/machine.h"
#include "measure/harness/machine.h"
#include "sample.h"

#define MAX_SLOTS 1024
#define FILE_SIZE (1L << 20)

static struct ferry_slot slots[MAX_SLOTS] __attribute__((aligned(4096)));
static long rets[MAX_SLOTS];

/* One program of SIZE equal slots, on two engines. */
struct contest {
	const char *name;
	enum ferry_engine engine; /* that runs against the loop */
	struct ferry_slot slot;
	unsigned long size;
};

static void fail(const char *what)
{
	fprintf(stderr, "uring_vs_loop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_or_fail(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		fail(path);
	return fd;
}

/* A file of FILE_SIZE bytes in the page cache, without a name. */
static int open_cached_file(void)
{
	const char *directory = getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp";
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	static char page[4096];
	long written;

	if (fd < 0)
		fail(directory);
	for (written = 0; written < FILE_SIZE; written += (long)sizeof(page))
		if (write(fd, page, sizeof(page)) != sizeof(page))
			fail("a temporary file");
	return fd;
}

/* Nanoseconds per slot of one batch: side 0 is the loop. */
static double run_side(int which, void *context)
{
	const struct contest *contest = context;
	enum ferry_engine engine = which ? contest->engine : FERRY_LOOP;
	double start = now_ns();
	long last = ferry_batch_on(engine, rets, slots, contest->size, 0, 0);
	double taken = now_ns() - start;

	if (last != (long)contest->size - 1 || rets[last] < 0) {
		fprintf(stderr, "uring_vs_loop: %s: the batch ended at %ld with %ld\n",
			contest->name, last, rets[last < 0 ? 0 : last]);
		exit(1);
	}
	return taken / (double)contest->size;
}

static struct duel run_contest(struct contest *contest, size_t pairs)
{
	unsigned long i;

	for (i = 0; i < contest->size; i++)
		slots[i] = contest->slot;
	compare(run_side, contest, pairs / 10 + 1); /* warm-up */
	return compare(run_side, contest, pairs);
}

static void print_row(const struct contest *contest, const struct duel *c)
{
	bool noise = c->ratio.low < 1 && c->ratio.high > 1;

	printf("%-24s %5lu  %8.1f  %8.1f  %6.2f  %5.2f .. %.2f%s\n", contest->name, contest->size,
	       c->side[0].median, c->side[1].median, c->ratio.median, c->ratio.low, c->ratio.high,
	       noise ? "  within the noise" : "");
	fflush(stdout);
}

static json_t *quartiles_as_json(struct quartiles quartiles)
{
	return json_pack("[f, f, f]", quartiles.low, quartiles.median, quartiles.high);
}

static json_t *row_as_json(const struct contest *contest, const struct duel *c)
{
	return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o}", "calls", contest->name, "engine",
			 ferry_engine_name(contest->engine), "slots", (json_int_t)contest->size,
			 "loop_ns", quartiles_as_json(c->side[0]), "engine_ns",
			 quartiles_as_json(c->side[1]), "ratio", quartiles_as_json(c->ratio));
}

static void run_all(struct contest contests[], size_t count, size_t pairs, json_t *rows)
{
	static const unsigned long sizes[] = { 16, 32, 64, 128, 256, 1024 };
	size_t i, k;

	for (i = 0; i < count; i++) {
		for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			struct duel comparison;

			contests[i].size = sizes[k];
			comparison = run_contest(&contests[i], pairs);
			if (rows)
				json_array_append_new(rows, row_as_json(&contests[i], &comparison));
			else
				print_row(&contests[i], &comparison);
		}
	}
}

static void print_heading(const struct machine *machine, size_t pairs)
{
	printf("Loop against uring and auto, on Linux %s, %s%s.\n"
	       "Medians of %zu pairs taken in turn, in ns per slot; ratio above 1: faster than "
	       "the\n"
	       "loop; quartiles of the ratio behind it.\n\n",
	       machine->kernel.release, machine->cpu,
	       machine->hypervisor ? ", in a virtual machine" : "", pairs);
	printf("%-24s %5s  %8s  %8s  %6s  %s\n", "CALLS", "SLOTS", "LOOP", "ENGINE", "RATIO",
	       "QUARTILES");
}

static json_t *report_as_json(const struct machine *machine, size_t pairs, json_t *rows)
{
	return json_pack("{s:i, s:s, s:s, s:b, s:o, s:I, s:o}", "version", 1, "kernel",
			 machine->kernel.release, "cpu", machine->cpu, "virtual_machine",
			 machine->hypervisor, "mitigations", machine_mitigations(), "pairs",
			 (json_int_t)pairs, "rows", rows);
}

static size_t parse_pairs(const char *text)
{
	char *end;
	long pairs = strtol(text, &end, 10);

	if (*end || pairs < 1 || pairs > MAX_PAIRS) {
		fprintf(stderr, "uring_vs_loop: '%s' pairs: give a number from 1 to %d\n", text,
			MAX_PAIRS);
		exit(2);
	}
	return (size_t)pairs;
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pairs", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static char buffer[4096];
	static struct statx statx_buffer;
	struct machine machine;
	const char *why;
	size_t pairs = 401;
	bool json = false;
	json_t *rows;
	int option;

	while ((option = getopt_long(argc, argv, "jp:h", options, NULL)) != -1) {
		switch (option) {
		case 'j':
			json = true;
			break;
		case 'p':
			pairs = parse_pairs(optarg);
			break;
		case 'h':
			printf("Usage: uring_vs_loop [--pairs N] [--json]\n"
			       "Times batches of small calls on the loop and on uring, in turn.\n"
			       "Example: uring_vs_loop --pairs 1001\n");
			return 0;
		default:
			return 2;
		}
	}
	if (ferry_engine_probe(FERRY_URING, &why)) {
		fprintf(stderr, "uring_vs_loop: no uring engine: %s\n", why);
		return 1;
	}
	machine_read(&machine);
	cpu_stay(-1);
	const long null = open_or_fail("/dev/null", O_WRONLY);
	const long zero = open_or_fail("/dev/zero", O_RDONLY);
	const long file = open_cached_file();
	const long at = (long)buffer;
	struct contest contests[] = {
		{ "write 1, /dev/null", FERRY_URING, { SYS_write, .arg = { null, at, 1 } }, 0 },
		{ "read 1, /dev/zero", FERRY_URING, { SYS_read, .arg = { zero, at, 1 } }, 0 },
		{ "pread 1, cached file",
		  FERRY_URING,
		  { SYS_pread64, .arg = { file, at, 1, 0 } },
		  0 },
		{ "pread 4096, cached file",
		  FERRY_URING,
		  { SYS_pread64, .arg = { file, at, 4096, 8192 } },
		  0 },
		{ "statx, on auto",
		  FERRY_AUTO,
		  { SYS_statx,
		    .arg = { AT_FDCWD, (long)"/", 0, STATX_BASIC_STATS, (long)&statx_buffer } },
		  0 },
		{ "write 0, file, on auto", FERRY_AUTO, { SYS_write, .arg = { file, at, 0 } }, 0 },
	};

	rows = json ? json_array() : NULL;
	if (!json)
		print_heading(&machine, pairs);
	run_all(contests, sizeof(contests) / sizeof(contests[0]), pairs, rows);
	if (json) {
		json_t *report = report_as_json(&machine, pairs, rows);

		json_dumpf(report, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(report);
	}
	if (fflush(stdout) || ferror(stdout))
		fail("standard output");
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * What a batch adds to calls that do some work: its slope, beside the cost of the same
 * handler called directly, within the kernel, and of the same call made alone.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <ferry/rawcall.h>

#include "count.h"
#include "engines.h"
#include "handlers.h"
#include "module.h"
#include "options.h"
#include "sweep.h"

static const char usage[] =
	"Usage: overhead [--passes N] [DIRECTORY]\n"
	"Prints a JSON line per engine and call: cost per slot and per crossing, of the handler\n"
	"called directly (with the test module loaded, where instructions are counted), and of\n"
	"one call alone, in each of N (5) passes.  DIRECTORY (/tmp) is on a tmpfs.\n"
	"\n"
	"Example: overhead /dev/shm\n";

#define REPEATS 50
#define MAX_ENGINES 8

static struct ferry_slot slots[SWEEP_SLOTS] __attribute__((aligned(4096)));
static long rets[SWEEP_SLOTS] __attribute__((aligned(4096)));

static void run_batch(const void *engine, unsigned long n)
{
	((const struct engine *)engine)->run(rets, slots, n);
}

static void run_alone(void *context)
{
	const struct ferry_slot *slot = context;
	const __s64 *arg = slot->arg;

	rets[0] = ferry_rawcall(slot->nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

static void rewind_file(void *context)
{
	(void)context;
	handlers_rewind();
}

/* Instructions of the handler itself, or -1 when the module is not there to count them. */
static long direct_cost(const struct ferry_slot *slot)
{
	struct ferry_bench_direct direct = { .nr = (unsigned long)slot->nr, .rounds = REPEATS };

	memcpy(direct.arg, slot->arg, sizeof(direct.arg));
	handlers_rewind();
	if (strcmp(count_unit(), "instructions") != 0 || module_descriptor() < 0 ||
	    ioctl(module_descriptor(), FERRY_BENCH_DIRECT, &direct))
		return -1;
	return (long)direct.least;
}

static void print_counts(const char *name, const long counts[], int passes)
{
	int i;

	printf(",\"%s\":[", name);
	for (i = 0; i < passes && counts[i] >= 0; i++)
		printf("%s%ld", i ? "," : "", counts[i]);
	printf("]");
}

static void check_results(const struct handler *handler, const char *engine)
{
	int i;

	for (i = 0; i < SWEEP_SLOTS; i++)
		if (rets[i] < 0)
			errx(EXIT_FAILURE, "%s in slot %d of a batch on %s failed with %ld",
			     handler->name, i, engine, rets[i]);
}

static struct side sides[MAX_ENGINES], *turns[MAX_ENGINES];
static const struct engine *used[MAX_ENGINES];

/* Makes a side of every engine that is here; their number. */
static int collect(const struct handler *handler)
{
	int count = 0;
	size_t i;

	for (i = 0; i < engine_count; i++) {
		if (!engines[i].here())
			continue;
		sides[count] = (struct side){ .name = engines[i].name,
					      .times = 1,
					      .run = run_batch,
					      .context = &engines[i] };
		turns[count] = &sides[count];
		used[count++] = &engines[i];
		memset(rets, -1, sizeof(rets));
		handlers_rewind();
		run_batch(&engines[i], SWEEP_SLOTS);
		check_results(handler, engines[i].name);
	}
	return count;
}

static void measure(const struct handler *handler, int passes)
{
	long direct[MAX_PASSES], alone[MAX_PASSES];
	int count, i;

	for (i = 0; i < SWEEP_SLOTS; i++)
		slots[i] = handler->slot;
	count = collect(handler);
	sweep(turns, count, passes, handlers_rewind);
	for (i = 0; i < passes; i++) {
		alone[i] = (long)count_least(run_alone, rewind_file, slots, REPEATS);
		direct[i] = direct_cost(slots);
	}
	for (i = 0; i < count; i++) {
		printf("{\"bench\":\"overhead\",\"unit\":\"%s\",\"call\":\"%s\",\"note\":\"%s\","
		       "\"engine\":\"%s\",",
		       count_unit(), handler->name, handler->note, sides[i].name);
		print_lines(sides[i].lines, used[i]->one_crossing, passes);
		print_counts("direct", direct, passes);
		print_counts("alone", alone, passes);
		printf("}\n");
	}
}

int main(int argc, char *argv[])
{
	struct options options = read_options(argc, argv, usage);
	size_t i;

	enter_tmpfs(options.directory);
	handlers_prepare();
	for (i = 0; i < handler_count; i++)
		measure(&handlers[i], options.passes);
	handlers_finish();
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

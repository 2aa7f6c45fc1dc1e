// SPDX-License-Identifier: MIT
/*
 * The overhead of a batch: batches of 1 to 1,024 calls that the kernel does not have (or
 * 32 to 32,768, by engines that make one crossing, where the clock is no exact count), on
 * every engine that is here, and io_uring NOPs.  The call takes no time of its own, so
 * what is left is the way to it.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "engines.h"
#include "nops.h"
#include "options.h"
#include "sweep.h"

static const char usage[] =
	"Usage: slope [--passes N]\n"
	"Prints a JSON line per engine and kind of slot: cost per slot and per crossing, in each\n"
	"of N (5) passes.  In an emulator that counts instructions these are\n"
	"instructions, else ns.\n"
	"\n"
	"Example: slope --passes 11\n";

/* Numbers that no call has, within the table of x86-64's calls, and behind its end. */
#define WITHIN 400
#define BEYOND 511

#define MOST_SLOTS (SWEEP_SLOTS * SWEEP_FAR)

static long word;

/* What the slots of a batch have in common. */
static struct kind {
	const char *call;
	struct ferry_slot slot;
	bool simple; /* also for engines that only make calls */
	struct ferry_slot slots[MOST_SLOTS] __attribute__((aligned(4096)));
} kinds[] = {
	{ "unimplemented, within the table", { .nr = WITHIN }, .simple = true },
	{ "unimplemented, beyond the table", { .nr = BEYOND }, .simple = true },
	{ "within, and looking at the jumps", { .nr = WITHIN, .jump_pos = -1 } },
	{ "within, an argument forwarded",
	  { .nr = WITHIN, .argc = 1 | FERRY_ARGC_FORWARD, .from = { 1 } } },
	{ "word copy", { .nr = FERRY_NR_WDCPY, .argc = 2, .arg = { (long)&word, (long)&word } } },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static long rets[MOST_SLOTS] __attribute__((aligned(4096)));

/* A line of the output: a kind of slots on an engine, or NOPs when it has no kind. */
struct batch_side {
	const struct engine *engine;
	const struct kind *kind;
};

#define MAX_SIDES 32
static struct side sides[MAX_SIDES], *turns[MAX_SIDES];
static struct batch_side batches[MAX_SIDES];
static int side_count;

static void run_batch(const void *context, unsigned long n)
{
	const struct batch_side *side = context;

	side->engine->run(rets, side->kind->slots, n);
}

/* That the kernel lacks the call, and that all slots ran. */
static void check(const struct engine *engine, const struct kind *kind)
{
	long expected = kind->slot.nr == FERRY_NR_WDCPY ? 0 : -ENOSYS;
	int i;

	memset(rets, 1, sizeof(rets));
	engine->run(rets, kind->slots, SWEEP_SLOTS);
	for (i = 0; i < SWEEP_SLOTS; i++)
		if (rets[i] != expected)
			errx(EXIT_FAILURE, "slot %d with number %d gave %ld on %s instead of %ld",
			     i, kind->slot.nr, rets[i], engine->name, expected);
}

/* Exact counts need no long batches. */
static unsigned long times_of(bool one_crossing)
{
	return one_crossing && !count_is_exact() ? SWEEP_FAR : 1;
}

static void add(const char *name, bool one_crossing, void (*run)(const void *, unsigned long),
		const void *context)
{
	sides[side_count] = (struct side){
		.name = name,
		.run = run,
		.context = context,
		.times = times_of(one_crossing),
	};
	turns[side_count] = &sides[side_count];
	side_count++;
}

static void fill(struct kind *kind)
{
	int i;

	for (i = 0; i < MOST_SLOTS; i++)
		kind->slots[i] = kind->slot;
	kind->slots[0].argc &= (unsigned char)~FERRY_ARGC_FORWARD; /* nothing comes before */
}

static void add_engines(const struct kind *kind)
{
	size_t i;

	for (i = 0; i < engine_count; i++) {
		if (!engines[i].here() || !(kind->simple || engines[i].whole))
			continue;
		check(&engines[i], kind);
		batches[side_count] = (struct batch_side){ &engines[i], kind };
		add(engines[i].name, engines[i].one_crossing, run_batch, &batches[side_count]);
	}
}

static void print_side(int i, int passes)
{
	const struct kind *kind = batches[i].kind;

	printf("{\"bench\":\"slope\",\"unit\":\"%s\",\"engine\":\"%s\",\"call\":\"%s\",",
	       count_unit(), sides[i].name, kind ? kind->call : "nop");
	if (kind)
		printf("\"nr\":%d,", kind->slot.nr);
	print_lines(sides[i].lines, !kind || batches[i].engine->one_crossing, passes);
	printf("}\n");
}

int main(int argc, char *argv[])
{
	struct options options = read_options(argc, argv, usage);
	struct nops *plain = nops_new(MOST_SLOTS, false), *linked = nops_new(MOST_SLOTS, true);
	size_t k;
	int i;

	for (k = 0; k < KINDS; k++) {
		fill(&kinds[k]);
		add_engines(&kinds[k]);
	}
	if (plain && linked) {
		add("uring", true, nops_run, plain);
		add("uring-linked", true, nops_run, linked);
	}
	sweep(turns, side_count, options.passes, NULL);
	for (i = 0; i < side_count; i++)
		print_side(i, options.passes);
	nops_free(plain);
	nops_free(linked);
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

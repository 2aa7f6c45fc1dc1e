// SPDX-License-Identifier: MIT
/* ferry bench dispatch: the cost that the loop adds to a slot, with a call that does nothing. */
#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#include <ferry.h>

#include "cases.h"
#include "common/memory.h"
#include "measure/harness/empty.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/options.h"
#include "measure/harness/rows.h"
#include "measure/harness/steps.h"
#include "slot.h"

struct dispatch_settings {
	struct settings;
	long calls; /* in a trial */
};

/* So that slots and results stay in the first cache. */
#define SLOTS 256

enum program { PLAIN, JUMPS, FORWARDING, WORD_COPY, GO_TO, PROGRAMS };

/* Twice as long, for the rows that skip every other slot. */
static struct batch_slot programs[PROGRAMS][2 * SLOTS] __attribute__((aligned(4096)));
static long rets[2 * SLOTS];

static void fill(enum program program, struct batch_slot slot)
{
	size_t i;

	for (i = 0; i < 2 * SLOTS; i++)
		programs[program][i] = slot;
}

static void fill_programs(void)
{
	static long from, to;

	fill(PLAIN, (struct batch_slot){ .nr = SYS_getpid });
	fill(JUMPS, (struct batch_slot){ .nr = SYS_getpid, .jump_fail = -1 });
	fill(FORWARDING, (struct batch_slot){ CALL_FORWARDED(SYS_getpid, 0), .from = { 1 } });
	programs[FORWARDING][0].argc = 0; /* nothing lies before it */
	fill(WORD_COPY, (struct batch_slot){ CALL(BATCH_WDCPY, (long)&to, (long)&from) });
	fill(GO_TO, (struct batch_slot){ .nr = FERRY_NR_GOTO, .jump_fail = 1 });
}

/* Each slot of GO_TO skips the one behind it. */
static void run_slots(enum program program, unsigned long count)
{
	unsigned long stride = 1 + (program == GO_TO);

	empty_loop(rets, programs[program], (count - 1) * stride + 1);
}

/* What a program would do by hand: the same call, the same store, over the same slots. */
static void call_by_hand(unsigned long count)
{
	unsigned long i;

	for (i = 0; i < count; i++) {
		const struct batch_slot *slot = &programs[PLAIN][i];
		const __s64 *arg = slot->arg;

		rets[i] = empty_call(slot->nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	}
}

/* What a program that makes any call does: a switch over the arguments, and the jumps. */
static long call_by_argc(const struct batch_slot *slot)
{
	const __s64 *a = slot->arg;

	switch (slot->argc) {
	case 0:
		return empty_call(slot->nr, 0, 0, 0, 0, 0, 0);
	case 1:
		return empty_call(slot->nr, a[0], 0, 0, 0, 0, 0);
	case 2:
		return empty_call(slot->nr, a[0], a[1], 0, 0, 0, 0);
	case 3:
		return empty_call(slot->nr, a[0], a[1], a[2], 0, 0, 0);
	case 4:
		return empty_call(slot->nr, a[0], a[1], a[2], a[3], 0, 0);
	case 5:
		return empty_call(slot->nr, a[0], a[1], a[2], a[3], a[4], 0);
	default:
		return empty_call(slot->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
}

static void call_by_switch(unsigned long count)
{
	long i, skip = 0;

	for (i = 0; i < (long)count && skip >= 0; i += 1 + skip) {
		const struct batch_slot *slot = &programs[PLAIN][i];

		rets[i] = call_by_argc(slot);
		skip = rets[i] < 0 ? slot->jump_fail : rets[i] ? slot->jump_pos : slot->jump_zero;
	}
}

/* The argument makes SOME of the calls. */
#define RUN(name, slots)                                      \
	static void run_##name(unsigned long count)           \
	{                                                     \
		unsigned long some;                           \
                                                              \
		for (; count; count -= some) {                \
			some = count < SLOTS ? count : SLOTS; \
			slots;                                \
		}                                             \
	}

RUN(function, call_by_hand(some))
RUN(switch, call_by_switch(some))
RUN(plain, run_slots(PLAIN, some))
RUN(jumps, run_slots(JUMPS, some))
RUN(forwarding, run_slots(FORWARDING, some))
RUN(word_copy, run_slots(WORD_COPY, some))
RUN(go_to, run_slots(GO_TO, some))

static const struct kind kinds[] = {
	{ "function", "the empty call by hand", run_function, NULL },
	{ "switch", "by hand, any call", run_switch, NULL },
	{ "plain", "calls without jumps", run_plain, NULL, .compared = true },
	{ "jumps", "calls with a jump for failures", run_jumps, NULL, .compared = true },
	{ "forwarding", "calls with a forwarded operand", run_forwarding, NULL, .compared = true },
	{ "word_copy", "word copies", run_word_copy, NULL },
	{ "go_to", "go to", run_go_to, NULL },
};

/* ---- conclusions ---- */

static void say_instructions(struct run *run, const struct row *base, const struct row *plain)
{
	if (base && plain && !isnan(base->instructions) && !isnan(plain->instructions))
		add_finding(run, plain->name,
			    "A slot without jumps takes %.1f instructions on the loop, %.1f more "
			    "than the same call by hand.",
			    plain->instructions, plain->instructions - base->instructions);
}

static void dispatch_conclude(struct run *run, struct row rows[], size_t count)
{
	static const struct {
		const char *name, *what;
	} reported[] = {
		{ "plain", "a slot" },
		{ "jumps", "a slot with jumps" },
		{ "forwarding", "a slot with jumps and a forwarded operand" },
	};
	const struct row *base = find_row(rows, count, "function"), *row;
	size_t i;

	set_times(rows, count, "function");
	judge_run(run);
	say_instructions(run, base, find_row(rows, count, "plain"));
	for (i = 0; i < COUNT_OF(reported); i++) {
		row = find_row(rows, count, reported[i].name);
		if (row && base && row->ratio.significant)
			add_finding(run, row->name,
				    "To the same call by hand the loop adds %.2f %s for %s; both "
				    "together take %.2f.",
				    row->summary.median - base->summary.median, clock_unit(),
				    reported[i].what, row->summary.median);
		else if (row && base)
			add_finding(run, row->name,
				    "What the loop adds for %s is lost in the noise.",
				    reported[i].what);
	}
}

/* Counts the trials of every row that is available. */
static void count_instructions(struct row rows[], size_t count)
{
	size_t i, k;

	for (i = 0; i < count && !interrupted(); i++)
		for (k = 0; k < COUNT_OF(kinds); k++)
			if (!strcmp(rows[i].name, kinds[k].name))
				rows[i].instructions = instructions_per_call(kinds[k].run);
}

static const struct column columns[] = {
	{ "SLOTS", F_TEXT, offsetof(struct row, label), 0 },
	{ "MEAN", F_NUMBER, offsetof(struct row, summary.mean), 2 },
	{ "MIN", F_NUMBER, offsetof(struct row, summary.min), 2 },
	{ "MAX", F_NUMBER, offsetof(struct row, summary.max), 2, PAGE_ONLY },
	{ "SD", F_NUMBER, offsetof(struct row, summary.sd), 3 },
	{ "MEDIAN", F_NUMBER, offsetof(struct row, summary.median), 2 },
	{ "+-", F_NUMBER, offsetof(struct row, summary.se), 3, PAGE_ONLY },
	{ "CYCLES", F_NUMBER, offsetof(struct row, cycles), 1 },
	{ "INSTR", F_NUMBER, offsetof(struct row, instructions), 1 },
	{ "RATIO", F_NUMBER, offsetof(struct row, times), 2 },
};

static const char note[] =
	"RATIO: to the call by hand. CYCLES: ticks of the time-stamp counter. INSTR: "
	"instructions, counted one by one.";

static int measure(struct run *run)
{
	long calls = ((const struct dispatch_settings *)run->settings)->calls;
	struct row *rows;
	size_t count;
	int status;

	fill_programs();
	status = measure_rows(run, kinds, COUNT_OF(kinds), calls, &rows, &count);
	count_instructions(rows, count);
	dispatch_conclude(run, rows, count);
	add_rows(run, rows, count);
	add_table_of(run, &run->sets[0], columns, note,
		     "What the loop costs, in %s per slot, with an empty function for the call",
		     clock_unit());
	return status;
}

static double seconds(const struct settings *settings, double call_ns)
{
	const struct dispatch_settings *s = (const struct dispatch_settings *)settings;
	const size_t rows = COUNT_OF(kinds);

	return (double)((s->calls + s->warmup) * s->trials) * (double)rows * fmin(10, call_ns) /
	       1e9;
}

#define AT(member) offsetof(struct dispatch_settings, member)

static const struct option_row options[] = {
	TRIALS_OPTION,
	WARMUP_OPTION,
	CALLS_OPTION(AT(calls)),
};

static const struct dispatch_settings defaults = { .warmup = 1000, .trials = 40, .calls = 200000 };

const struct bench dispatch_bench = {
	.name = "dispatch",
	.summary = "the cost that the loop adds to each slot",
	BENCH_SETTINGS(options, defaults),
	.seconds = seconds,
	.measure = measure,
	.example = "dispatch --trials 100",
};

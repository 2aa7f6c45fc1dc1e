// SPDX-License-Identifier: MIT
/* ferry bench dispatch: what the loop adds to a slot, with a call that does nothing. */
#include <sys/syscall.h>

#include <ferry.h>

#include "measure/harness/bench.h"
#include "dispatch_machine.h"
#include "empty.h"
#include "measure/harness/json.h"
#include "measure/harness/rows.h"

/* So that slots and results stay in the first cache. */
#define SLOTS 256

enum program { PLAIN, JUMPS, FORWARDING, WORD_COPY, GO_TO, PROGRAMS };

/* Twice as long, for those that skip every other slot. */
static struct ferry_slot programs[PROGRAMS][2 * SLOTS] __attribute__((aligned(4096)));
static long rets[2 * SLOTS];

static const struct column columns[] = {
	{ "SLOTS", "label", TEXT, 0 },	   { "MEAN", "mean", NUMBER, 2 },
	{ "MIN", "min", NUMBER, 2 },	   { "MAX", "max", NUMBER, 2 },
	{ "SD", "sd", NUMBER, 3 },	   { "MEDIAN", "median", NUMBER, 2 },
	{ "CYCLES", "cycles", NUMBER, 1 }, { "RATIO", "ratio", NUMBER, 2 },
};

static const struct column csv_columns[] = {
	{ NULL, "name", TEXT, 0 },     { NULL, "label", TEXT, 0 }, { NULL, "mean", NUMBER, 0 },
	{ NULL, "min", NUMBER, 0 },    { NULL, "max", NUMBER, 0 }, { NULL, "sd", NUMBER, 0 },
	{ NULL, "median", NUMBER, 0 }, { NULL, "se", NUMBER, 0 },  { NULL, "cycles", NUMBER, 0 },
	{ NULL, "ratio", NUMBER, 0 },
};

static void fill(enum program program, struct ferry_slot slot)
{
	size_t i;

	for (i = 0; i < 2 * SLOTS; i++)
		programs[program][i] = slot;
}

static void fill_programs(void)
{
	static long from, to;

	fill(PLAIN, (struct ferry_slot){ .nr = SYS_getpid });
	fill(JUMPS, (struct ferry_slot){ .nr = SYS_getpid, .jump_fail = -1 });
	fill(FORWARDING, (struct ferry_slot){
				 .nr = SYS_getpid, .argc = 1 | FERRY_ARGC_FORWARD, .from = { 1 } });
	programs[FORWARDING][0].argc = 0; /* nothing lies before it */
	fill(WORD_COPY, (struct ferry_slot){ .nr = FERRY_NR_WDCPY,
					     .argc = 2,
					     .arg = { (long)&to, (long)&from } });
	fill(GO_TO, (struct ferry_slot){ .nr = FERRY_NR_GOTO, .jump_fail = 1 });
}

/* COUNT slots run, of which every STRIDE-th of the program is one. */
static void run_slots(enum program program, unsigned long count, unsigned long stride)
{
	while (count) {
		unsigned long some = count < SLOTS ? count : SLOTS;

		dispatch(rets, programs[program], (some - 1) * stride + 1);
		count -= some;
	}
}

/* What a program would do by hand: the same call, the same store, over the same slots. */
static void run_function(unsigned long count)
{
	while (count) {
		unsigned long some = count < SLOTS ? count : SLOTS;
		unsigned long i;

		for (i = 0; i < some; i++) {
			const struct ferry_slot *slot = &programs[PLAIN][i];
			const __s64 *arg = slot->arg;

			rets[i] = empty_call(slot->nr, arg[0], arg[1], arg[2], arg[3], arg[4],
					     arg[5]);
		}
		count -= some;
	}
}

static void run_plain(unsigned long count)
{
	run_slots(PLAIN, count, 1);
}

static void run_jumps(unsigned long count)
{
	run_slots(JUMPS, count, 1);
}

static void run_forwarding(unsigned long count)
{
	run_slots(FORWARDING, count, 1);
}

static void run_word_copy(unsigned long count)
{
	run_slots(WORD_COPY, count, 1);
}

/* Each skips the slot behind it. */
static void run_go_to(unsigned long count)
{
	run_slots(GO_TO, count, 2);
}

static const struct kind kinds[] = {
	{ "function", "the empty call by hand", run_function, NULL },
	{ "plain", "calls without jumps", run_plain, NULL },
	{ "jumps", "calls with a jump for failures", run_jumps, NULL },
	{ "forwarding", "calls with a forwarded operand", run_forwarding, NULL },
	{ "word_copy", "word copies", run_word_copy, NULL },
	{ "go_to", "go to", run_go_to, NULL },
};

static void say(struct run *run, const json_t *rows, const char *name, const char *sentence)
{
	const json_t *row = find_row(rows, name), *base = find_row(rows, "function");
	double added = json_number_at(row, "median") - json_number_at(base, "median");

	if (row && base)
		add_finding(run, name, sentence, added, json_number_at(row, "median"));
}

static int measure(struct run *run)
{
	json_t *rows;
	int status;

	fill_programs();
	status = measure_rows(run, kinds, sizeof(kinds) / sizeof(kinds[0]), &rows);
	set_ratios(rows, "function");
	say(run, rows, "plain",
	    "For each slot the loop adds %.2f ns to the same call by hand; slot and empty call "
	    "together take %.2f ns.");
	say(run, rows, "jumps", "Where a slot has jumps it adds %.2f ns, in all %.2f ns.");
	say(run, rows, "forwarding", "A forwarded operand makes that %.2f ns, in all %.2f ns.");
	json_object_set_new(run->document, "rows", rows);
	return status;
}

static void print(const json_t *document)
{
	static const struct table table = { columns, sizeof(columns) / sizeof(columns[0]) };

	print_heading("What the loop costs, in ns per slot, with an empty function for the call");
	print_table(&table, json_object_get(document, "rows"));
	print_paragraph("", "RATIO: to the call by hand. CYCLES: ticks of the time-stamp counter.");
}

const struct bench dispatch_bench = {
	.name = "dispatch",
	.summary = "what the loop adds to each slot",
	.options = "twn",
	.rows = "rows",
	.csv = { csv_columns, sizeof(csv_columns) / sizeof(csv_columns[0]) },
	.defaults = { .warmup = 1000, .trials = 40, .calls = 200000 },
	.measure = measure,
	.print = print,
};

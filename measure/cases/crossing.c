// SPDX-License-Identifier: MIT
/* ferry bench crossing: the cost of one call, and the part of it that is the crossing. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <ferry.h>
#include <ferry/rawcall.h>

#include "cases.h"
#include "common/memory.h"
#include "common/messages.h"
#include "crossing.h"
#include "lib/text/text.h"
#include "measure/harness/empty.h"
#include "measure/harness/options.h"
#include "measure/harness/process.h"
#include "test_module.h"

struct crossing_settings {
	struct settings;
	long calls;	    /* in a trial */
	struct names words; /* of one more call: its number and arguments; or none */
};

#define FILE_PATH "/etc/passwd"

#define FEWEST_TRIALS 4	  /* for the error of a median */
#define FEWEST_CALLS 1000 /* in a trial, for shares */

/* ---- the call that --call describes ---- */

#define BUFFER "buffer"
#define NO_ANSWER LONG_MIN

static struct {
	const char *label;
	long words[1 + BATCH_MAX_ARGS]; /* its number and its arguments */
	long *answer;			/* shared with the child that tries it */
} given;
static char buffer[4096];

static long make_given_call(void)
{
	const long *w = given.words;

	return ferry_rawcall(w[0], w[1], w[2], w[3], w[4], w[5], w[6]);
}

/* In a child, because the call may do anything. */
static int try_given_call(void *context)
{
	(void)context;
	*given.answer = make_given_call();
	return 0;
}

static int refuse_call(const char *word, const char *what)
{
	return bad_input("bench: --call has '%s': it must be %s", word, what);
}

static int read_argument(const char *word, long *argument)
{
	char *end;

	errno = 0;
	*argument = strtol(word, &end, 0);
	if (!strcmp(word, BUFFER))
		*argument = (long)buffer;
	else if (!isdigit(*word) && *word != '-')
		return refuse_call(word, "a number, or buffer for the address of 4096 bytes");
	else if (*end || errno)
		return refuse_call(word, "a number of 64 bits");
	return 0;
}

/* Fills in given, with a label as a program would write the call. */
static int read_given_call(const struct names *words)
{
	struct batch_slot slot = { 0 };
	struct ferry_problem problem;
	size_t i;

	if (words->count > COUNT_OF(given.words))
		return bad_input("bench: --call has more than %d arguments", BATCH_MAX_ARGS);
	for (i = 0; i < words->count; i++) {
		if (read_argument(words->of[i], &given.words[i]))
			return EXIT_USAGE;
		given.label =
			i ? keep_text("%s%s%s", given.label, i > 1 ? ", " : "", words->of[i]) :
			    keep_text("call %s(", words->of[0]);
	}
	given.label = keep_text("%s)", given.label);
	if (given.words[0] < 0 || given.words[0] > SHRT_MAX)
		return refuse_call(words->of[0], "the number of a call");
	slot.nr = (short)given.words[0];
	if (ferry_check(&slot, 1, &problem, 1) > 0 && problem.severity == FERRY_ERROR)
		return bad_input("bench: call %d cannot be measured: %s", slot.nr, problem.reason);
	return 0;
}

static int check(struct settings *settings)
{
	const struct names *words = &((struct crossing_settings *)settings)->words;

	return words->count ? read_given_call(words) : 0;
}

static void warn_of_failure(struct run *run)
{
	const char *name = errno_name(*given.answer);

	if (name && *given.answer != -ENOSYS)
		add_warning(run, "call", "%s fails with %s: its time is that of the failure.",
			    given.label, name);
}

/* In a child, to see whether it returns, which exit() does not. */
static int try_in_child(struct run *run)
{
	given.answer = share(sizeof(*given.answer));
	*given.answer = NO_ANSWER;
	if (run_in_child(try_given_call, NULL))
		return EXIT_FOUND;
	if (*given.answer == NO_ANSWER)
		return failed("bench: %s does not return", given.label);
	warn_of_failure(run);
	return 0;
}

/* ---- the calls ---- */

static int zero = -1, null = -1, file = -1;

/* What the calls write to. */
static struct timespec time_now;
static struct timeval time_of_day;
static struct stat status;
static char byte;
static long kstats[7]; /* struct kstats as it was first published */

#define RAW(nr, a, b) ferry_rawcall(nr, (long)(a), (long)(b), 0, 0, 0, 0)

/* The barrier keeps each turn of the loop a turn. */
#define LOOP(name, call)                                   \
	static void loop_##name(unsigned long calls)       \
	{                                                  \
		unsigned long i;                           \
                                                           \
		for (i = 0; i < calls; i++) {              \
			call;                              \
			__asm__ volatile("" ::: "memory"); \
		}                                          \
	}

LOOP(empty, )
LOOP(function, empty_function())
LOOP(clock_gettime_vdso, clock_gettime(CLOCK_REALTIME, &time_now))
LOOP(gettimeofday_vdso, gettimeofday(&time_of_day, NULL))
LOOP(gettimeofday_trap, RAW(SYS_gettimeofday, &time_of_day, NULL))
LOOP(getpid_libc, (void)getpid())
LOOP(getpid_raw, RAW(SYS_getpid, 0, 0))
LOOP(getppid, RAW(SYS_getppid, 0, 0))
LOOP(unimplemented, RAW(UNIMPLEMENTED, 0, 0))
LOOP(null, RAW(FERRY_NR_NULL, 0, 0))
LOOP(kstats, RAW(FERRY_NR_KSTATS, kstats, sizeof(kstats)))
LOOP(kstats_refused, RAW(FERRY_NR_KSTATS, kstats, 0))
LOOP(read, (void)!read(zero, &byte, 1))
LOOP(write, (void)!write(null, &byte, 1))
LOOP(stat, stat(FILE_PATH, &status))
LOOP(fstat, fstat(file, &status))
LOOP(open_close, close(open(FILE_PATH, O_RDONLY | O_CLOEXEC)))
LOOP(given, make_given_call())

static const char *missing_call(long answer)
{
	if (answer >= 0)
		return NULL;
	return answer == -ENOSYS ? "not on this kernel: ferry's patch series has it" :
	       answer == -EPERM	 ? "a filter of system calls forbids it" :
				   "this kernel has the number for something else";
}

/* Under a filter that refuses it, it costs a crossing and the filter's work. */
static const char *missing_unimplemented(void)
{
	long answer = RAW(UNIMPLEMENTED, 0, 0);

	return answer == -ENOSYS || answer == -EPERM ? NULL :
						       "this kernel has the number for a call";
}

#define MISSING(name, why)                      \
	static const char *missing_##name(void) \
	{                                       \
		return why;                     \
	}

MISSING(null, missing_call(RAW(FERRY_NR_NULL, 0, 0)))
MISSING(kstats, missing_call(RAW(FERRY_NR_KSTATS, kstats, sizeof(kstats))))
MISSING(zero, zero < 0 ? "/dev/zero cannot be opened" : NULL)
MISSING(device, null < 0 ? "/dev/null cannot be opened" : NULL)
MISSING(file, file < 0 ? FILE_PATH " cannot be opened" : NULL)
MISSING(given, *given.answer == -ENOSYS ? "this kernel has no such call" : NULL)
MISSING(counters, clock_counts_instructions() ? NULL : "the clock does not count instructions")

/* The first is the empty loop that all of them share; the last ones take the test module. */
#define WITH_MODULE 2
static const struct kind kinds[] = {
	{ "loop", "empty loop", loop_empty, NULL },
	{ "function", "empty function call", loop_function, NULL },
	{ "clock_gettime_vdso", "clock_gettime, vDSO", loop_clock_gettime_vdso, NULL },
	{ "gettimeofday_vdso", "gettimeofday, vDSO", loop_gettimeofday_vdso, NULL },
	{ "gettimeofday_trap", "gettimeofday, trap", loop_gettimeofday_trap, NULL },
	{ "getpid_libc", "getpid, libc", loop_getpid_libc, NULL },
	{ "getpid_raw", "getpid, raw", loop_getpid_raw, NULL },
	{ "getppid", "getppid, raw", loop_getppid, NULL },
	{ "unimplemented", "unimplemented call", loop_unimplemented, missing_unimplemented },
	{ "null", "null", loop_null, missing_null },
	{ "kstats", "kstats", loop_kstats, missing_kstats },
	{ "read", "read, 1 byte of /dev/zero", loop_read, missing_zero },
	{ "write", "write, 1 byte to /dev/null", loop_write, missing_device },
	{ "stat", "stat " FILE_PATH, loop_stat, missing_file },
	{ "fstat", "fstat", loop_fstat, missing_file },
	{ "open_close", "open and close " FILE_PATH, loop_open_close, missing_file },
	{ "kstats_refused", "kstats, refused for its size", loop_kstats_refused, missing_kstats },
	{ "kstats_counters", "counters, read in the kernel", NULL, missing_counters,
	  counters_cost },
};

static void open_files(void)
{
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	file = open(FILE_PATH, O_RDONLY | O_CLOEXEC);
}

/* ---- conclusions ---- */

/* The rows that do not enter the kernel. */
static bool stays_outside(const struct row *row)
{
	return !strcmp(row->name, "function") || !strcmp(row->name, "kstats_counters") ||
	       strstr(row->name, "_vdso");
}

static const struct row *bare_crossing(const struct crossing *c)
{
	const struct row *null_row = find_row(c->rows, c->count, "null");

	return null_row ? null_row : find_row(c->rows, c->count, "unimplemented");
}

/* The time of too few calls is that of a cold start, and shows no shares. */
static bool shows_shares(const struct row *row)
{
	return row->trials.count >= FEWEST_TRIALS && row->calls >= FEWEST_CALLS;
}

static void set_kernel_shares(struct run *run, struct crossing *c)
{
	const struct row *bare = bare_crossing(c);
	struct comparison *beside = keep(c->count, sizeof(*beside));
	size_t i;

	for (i = 0; bare && i < c->count; i++) {
		const struct row *row = &c->rows[i];

		if (row->missing || row == bare || stays_outside(row) || !shows_shares(row) ||
		    !shows_shares(bare))
			continue;
		compare_trials(run, &bare->trials, &row->trials, &beside[i]);
	}
	judge_run(run);
	for (i = 0; i < c->count; i++)
		if (bare && beside[i].significant && beside[i].ratio > 1)
			c->rows[i].kernel_share =
				fmax(0, 1 - bare->summary.min / c->rows[i].summary.min);
}

/* Sentences have the least times, which a busy machine hardly changes. */
static void say_crossing(struct run *run, const struct crossing *c)
{
	const struct row *bare = bare_crossing(c),
			 *function = find_row(c->rows, c->count, "function");

	if (!bare || !function)
		return;
	if (!bare->summary.settled)
		add_finding(run, bare->name,
			    "What a bare crossing takes is withheld: the least times of the two "
			    "halves of the trials differ by more than 5 %%. Repeat on a quiet "
			    "machine.");
	else
		add_finding(run, bare->name,
			    "A bare crossing (%s) takes %.1f %s, as long as %.0f calls of a "
			    "function.",
			    bare->label, bare->summary.min, clock_unit(),
			    bare->summary.min / function->summary.min);
}

static void say_vdso(struct run *run, const struct crossing *c)
{
	const struct row *vdso = find_row(c->rows, c->count, "gettimeofday_vdso");
	const struct row *trap = find_row(c->rows, c->count, "gettimeofday_trap");

	if (!vdso || !trap)
		return;
	if (trap->summary.min < 1.2 * vdso->summary.min)
		add_finding(run, vdso->name,
			    "The vDSO saves nothing here: gettimeofday takes at least %.1f %s "
			    "through it and %.1f by trap, so it enters the kernel.",
			    vdso->summary.min, clock_unit(), trap->summary.min);
	else
		add_finding(run, vdso->name,
			    "Through the vDSO gettimeofday takes %.1f %s and stays out of the "
			    "kernel: %.1f times as fast as by trap, %.1f.",
			    vdso->summary.min, clock_unit(), trap->summary.min / vdso->summary.min,
			    trap->summary.min);
}

static void say_share(struct run *run, const struct crossing *c, const char *name)
{
	const struct row *row = find_row(c->rows, c->count, name);

	if (row && !isnan(row->kernel_share))
		add_finding(run, name,
			    "Of the %.1f %s of %s, %.0f %% are the crossing and %.0f %% its work.",
			    row->summary.min, clock_unit(), row->label,
			    100 * (1 - row->kernel_share), 100 * row->kernel_share);
}

static void say_what_it_means(struct run *run, const struct crossing *c)
{
	say_crossing(run, c);
	say_vdso(run, c);
	say_share(run, c, "kstats");
	if (find_row(c->rows, c->count, "kstats"))
		add_finding(run, "kstats",
			    "kstats sums counters that each CPU keeps by itself (processes, "
			    "runnable tasks, context switches), so it takes longer the more CPUs "
			    "there are.");
	say_share(run, c, "given");
	say_share(run, c, "write");
	say_share(run, c, "stat");
	if (bare_crossing(c) && !shows_shares(bare_crossing(c)))
		add_finding(run, NULL,
			    "Stating how much of a call is the crossing takes %d trials of %d "
			    "calls.",
			    FEWEST_TRIALS, FEWEST_CALLS);
	if (!isnan(c->loop))
		add_finding(run, NULL,
			    "The loop around each call takes %.2f %s by itself; no row has it "
			    "subtracted.",
			    c->loop, clock_unit());
}

/* The empty loop is measured as a row, and reported as a number. */
static void take_out_loop(struct crossing *c)
{
	const struct row *loop = find_row(c->rows, c->count, "loop");

	c->loop = loop ? loop->summary.median : NAN;
	if (loop) {
		c->rows++;
		c->count--;
	}
}

void crossing_conclude(struct run *run, struct crossing *c)
{
	take_out_loop(c);
	set_times(c->rows, c->count, "function");
	set_kernel_shares(run, c);
	say_what_it_means(run, c);
}

static const struct field fields[] = {
	{ "loop_ns", F_NUMBER, offsetof(struct crossing, loop), 0 },
};

static const struct column columns[] = {
	{ "CALL", F_TEXT, offsetof(struct row, label), 0 },
	{ "MEAN", F_NUMBER, offsetof(struct row, summary.mean), 1 },
	{ "MIN", F_NUMBER, offsetof(struct row, summary.min), 1 },
	{ "MAX", F_NUMBER, offsetof(struct row, summary.max), 1 },
	{ "SD", F_NUMBER, offsetof(struct row, summary.sd), 1 },
	{ "MEDIAN", F_NUMBER, offsetof(struct row, summary.median), 1 },
	{ "+-", F_NUMBER, offsetof(struct row, summary.se), 2, PAGE_ONLY },
	{ "CYCLES", F_NUMBER, offsetof(struct row, cycles), 0 },
	{ "RATIO", F_NUMBER, offsetof(struct row, times), 1 },
	{ "BEYOND", F_PERCENT, offsetof(struct row, kernel_share), 0 },
};

static const char note[] =
	"RATIO: to the function call. BEYOND: the part of the call that is beyond the bare "
	"crossing, by the least times, where it exceeds the noise. CYCLES: ticks of the time-stamp "
	"counter.";

static int measure(struct run *run)
{
	struct crossing *c = keep(1, sizeof(*c));
	size_t count = COUNT_OF(kinds) - (test_module() < 0 ? WITH_MODULE : 0);
	long calls = ((const struct crossing_settings *)run->settings)->calls;
	struct kind all[COUNT_OF(kinds) + 1];
	int failed;

	memcpy(all, kinds, count * sizeof(*all));
	if (given.label && try_in_child(run))
		return EXIT_FOUND;
	if (given.label)
		all[count++] = (struct kind){ "given", given.label, loop_given, missing_given };
	open_files();
	failed = measure_rows(run, all, count, calls, &c->rows, &c->count);
	if (RAW(UNIMPLEMENTED, 0, 0) == -EPERM)
		add_warning(run, "filter",
			    "A filter of system calls answers the unimplemented call with EPERM: "
			    "its time holds the filter's work.");
	crossing_conclude(run, c);
	add_rows(run, c->rows, c->count);
	add_fields(run, RECORDS(NULL, fields, c, 1));
	add_table_of(run, &run->sets[0], columns, note, "What a call costs, in %s", clock_unit());
	return failed;
}

static double seconds(const struct settings *settings, double call_ns)
{
	const struct crossing_settings *s = (const struct crossing_settings *)settings;
	const size_t rows = COUNT_OF(kinds);

	return (double)((s->calls + s->warmup) * s->trials) * (double)rows * 3 * call_ns / 1e9;
}

#define AT(member) offsetof(struct crossing_settings, member)

static const struct option_row options[] = {
	TRIALS_OPTION,
	WARMUP_OPTION,
	CALLS_OPTION(AT(calls)),
	{ 'c', CALL_OPTION, "call", "NR,...", "calls_made", AT(words),
	  "one more call to measure: its number and arguments" },
};

static const struct crossing_settings defaults = { .warmup = 100, .trials = 10, .calls = 100000 };

const struct bench crossing_bench = {
	.name = "crossing",
	.summary = "the cost of one call, and the part of it that is the crossing",
	BENCH_SETTINGS(options, defaults),
	.check = check,
	.seconds = seconds,
	.measure = measure,
	.example = "crossing --json now.json",
};

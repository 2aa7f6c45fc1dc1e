// SPDX-License-Identifier: MIT
#include "savings.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "common/memory.h"
#include "names.h"
#include "shapes.h"

#define TINY 4096 /* bytes: less is a tiny read or write */
#define BETWEEN 4 /* calls from one to the next of the same kind, as in a loop that copies */

#define OF_FILES 1 /* the saving by one call for many files */

static const char *const stats[] = { "stat", "lstat", "newfstatat", "statx", NULL };
static const char *const clocks[] = { "clock_gettime", "gettimeofday", "time", NULL };

/* How many calls a way applies to. */
struct amount {
	double calls;
	double error; /* relative */
};

/* ---- counting ---- */

static struct amount crossings_in_batches(const struct conclusions *conclusions)
{
	struct amount amount = { .error = conclusions->scale_error };
	size_t i;

	for (i = 0; i < conclusions->sequences->count; i++) {
		const struct plan *plan = &conclusions->plans[i];

		amount.calls += plan->turns * (plan->calls - plan->batches);
	}
	return amount;
}

/* Calls of one number in the sample, and how many of them a way applies to. */
struct sampled {
	unsigned long seen, suited;
};

static struct sampled look_for(const struct windows *windows, int nr,
			       bool (*suits)(const struct traced_call *call))
{
	struct sampled sampled = { 0 };
	size_t i, k;

	for (i = 0; i < windows->count; i++)
		for (k = 0; k < windows->of[i]->count; k++)
			if (windows->of[i]->calls[k].nr == nr) {
				sampled.seen++;
				sampled.suited += suits(&windows->of[i]->calls[k]);
			}
	return sampled;
}

static struct amount calls_that(const struct totals *totals, const struct windows *windows,
				const char *const names[],
				bool (*suit)(const struct traced_call *call))
{
	struct amount amount = { 0 };
	double variance = 0;
	int nr;

	for (nr = 0; nr < CALL_LIMIT; nr++) {
		const double calls = (double)totals->of[nr].calls;
		struct sampled sampled;
		double share;

		if (!totals->of[nr].calls || !is_among(name_of_call(nr), names))
			continue;
		sampled = look_for(windows, nr, suit);
		if (!sampled.seen)
			continue;
		share = (double)sampled.suited / (double)sampled.seen;
		amount.calls += calls * share;
		if ((double)sampled.seen < calls)
			variance += calls * calls * share * (1 - share) / (double)sampled.seen;
	}
	amount.error = amount.calls ? sqrt(variance) / amount.calls : 0;
	return amount;
}

/* The clocks that the vDSO reads: vdso(7) and the kernel's lib/vdso/gettimeofday.c. */
static bool has_vdso_clock(const struct traced_call *call)
{
	if (call->nr != SYS_clock_gettime)
		return true;
	switch ((int)call->args[0]) {
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		return true;
	default:
		return false;
	}
}

/* fstat() of today's C library asks for an empty path. */
static bool looks_up_path(const struct traced_call *call)
{
	if (call->nr == SYS_newfstatat)
		return !(call->args[3] & AT_EMPTY_PATH);
	return call->nr != SYS_statx || !(call->args[2] & AT_EMPTY_PATH);
}

bool asks_clock_by_call(const struct traced_call *call)
{
	return is_among(name_of_call(call->nr), clocks) && has_vdso_clock(call);
}

bool asks_attributes(const struct traced_call *call)
{
	return is_among(name_of_call(call->nr), stats) && looks_up_path(call);
}

/* A short read ends a file or a message, and messages of a socket are not joined. */
static bool is_tiny(const struct traced_call *call)
{
	return is_transfer(call->nr) && call->result > 0 &&
	       (unsigned long)call->result == call->args[2] && call->args[2] < TINY &&
	       !(call->file && !strncmp(call->file, "socket:", 7));
}

/* Whether CALL goes on where BEFORE ended. */
static bool continues(const struct traced_call *call, const struct traced_call *before)
{
	if (call->nr != before->nr || call->args[0] != before->args[0])
		return false;
	return call->nr == SYS_read || call->nr == SYS_write ||
	       call->args[3] == before->args[3] + before->args[2];
}

static bool uses(const struct traced_call *call, unsigned long descriptor)
{
	const int k = first_argument(shape_of(call->nr), "d");

	return k >= 0 && call->args[k] == descriptor;
}

static bool is_on_stream(const struct traced_call *call)
{
	return call->file &&
	       (!strncmp(call->file, "pipe:", 5) || !strncmp(call->file, "socket:", 7));
}

/*
 * Only calls on other files come between it and the one that it goes on from.  On a pipe, nothing
 * of another pipe or socket does: that may be a question and this its answer.
 */
bool is_needless_transfer(const struct traced_call *call, size_t at)
{
	size_t back;

	if (!is_tiny(call))
		return false;
	for (back = 1; back <= BETWEEN && back <= at; back++) {
		if (uses(call - back, call->args[0]))
			return continues(call, call - back) && is_tiny(call - back);
		if (is_on_stream(call) && is_on_stream(call - back))
			return false;
	}
	return false;
}

bool reads_data(const struct traced_call *call)
{
	return call->nr == SYS_read || call->nr == SYS_pread64;
}

enum transfer { READS, WRITES, OF_PIPES, OF_DEVICES };

static enum transfer transfer_of(const struct traced_call *call)
{
	if (call->file && is_device(call->file))
		return OF_DEVICES;
	if (call->file && !strncmp(call->file, "pipe:", 5))
		return OF_PIPES;
	return reads_data(call) ? READS : WRITES;
}

/* Reads, or writes, that would not be made if each moved LARGE bytes. */
static struct amount needless_transfers(const struct conclusions *conclusions,
					const struct windows *windows, enum transfer transfer)
{
	struct amount amount = { .error = conclusions->scale_error };
	size_t i, k;

	for (i = 0; i < windows->count; i++)
		for (k = 0; k < windows->of[i]->count; k++)
			if (transfer_of(&windows->of[i]->calls[k]) == transfer &&
			    is_needless_transfer(&windows->of[i]->calls[k], k))
				amount.calls +=
					1 - (double)windows->of[i]->calls[k].args[2] / LARGE;
	amount.calls *= conclusions->scale;
	return amount;
}

/* ---- one way ---- */

static struct saving saving_of(struct way way, struct amount amount, double cpu_ns)
{
	struct saving saving = { .missing = way.missing,
				 .calls = amount.calls,
				 .ns = amount.calls * way.saved.value };

	if (!saving.missing && amount.calls < 1)
		saving.missing = "the program makes no calls that it applies to";
	else if (!saving.missing && way.saved.value <= way.saved.error)
		saving.missing = way.hindrance ? keep_text("no faster now: %s", way.hindrance) :
						 "no faster here than the calls themselves";
	saving.error = hypot(amount.calls * way.saved.error, saving.ns * amount.error);
	if (saving.missing)
		saving.ns = saving.error = NAN;
	saving.share = saving.ns / cpu_ns;
	return saving;
}

/* Of two that apply to different calls. */
static struct saving sum_of(struct saving a, struct saving b)
{
	/* Of the reasons, the one that is about calls of the program. */
	if (a.missing && b.missing)
		return a.calls > b.calls ? a : b;
	if (a.missing)
		return b;
	if (b.missing)
		return a;
	a.calls += b.calls;
	a.ns += b.ns;
	a.error += b.error; /* they err in the same direction */
	a.share += b.share;
	return a;
}

static struct saving saving_of_buffers(const struct conclusions *conclusions,
				       const struct windows *windows, const struct costs *costs,
				       double cpu_ns)
{
	const struct way ways[] = { [READS] = costs->tiny_read,
				    [WRITES] = costs->tiny_write,
				    [OF_PIPES] = costs->tiny_pipe,
				    [OF_DEVICES] = costs->tiny_device };
	struct saving saving = { .missing = "" };
	enum transfer transfer;

	for (transfer = READS; transfer <= OF_DEVICES; transfer++)
		saving =
			sum_of(saving, saving_of(ways[transfer],
						 needless_transfers(conclusions, windows, transfer),
						 cpu_ns));
	return saving;
}

static void add(struct conclusions *conclusions, size_t at, const char *name, const char *what,
		struct saving saving)
{
	saving.name = name;
	saving.what = what;
	conclusions->savings[at] = saving;
}

static void add_savings(struct conclusions *conclusions, const struct windows *windows,
			const struct totals *totals, const struct costs *costs,
			const struct times *times, double cpu_ns)
{
	struct way prefault = costs->prefault;
	struct amount faults = { times->missing ? 0 : (double)times->page_faults, 0 };

	if (times->missing)
		prefault.missing = "page faults were not counted: there was no untraced run";
	/* Anything from none to all of the faults can be avoided: a uniform distribution. */
	prefault.saved.error = hypot(prefault.saved.error / 2, prefault.saved.value / sqrt(12));
	prefault.saved.value /= 2;
	add(conclusions, 0, "batch",
	    keep_text("a batch for each sequence, %s",
		      costs->batch_engine ? keep_text("on the engine %s", costs->batch_engine) :
					    "on a kernel with the engine syscall or device"),
	    saving_of(costs->batch, crossings_in_batches(conclusions), cpu_ns));
	add(conclusions, OF_FILES, "files",
	    "ferry_statx_many() or ferry_walk(), on all CPUs, for attributes",
	    saving_of(costs->statx_many, calls_that(totals, windows, stats, looks_up_path),
		      cpu_ns));
	add(conclusions, 2, "vdso", "the vDSO for the time",
	    saving_of(costs->vdso, calls_that(totals, windows, clocks, has_vdso_clock), cpu_ns));
	add(conclusions, 3, "buffers", "buffers of 64 KiB for tiny reads and writes",
	    saving_of_buffers(conclusions, windows, costs, cpu_ns));
	add(conclusions, 4, "faults", "ferry_prefault() or large pages for page faults",
	    saving_of(prefault, faults, cpu_ns));
}

struct conclusions conclude(const struct windows *windows, const struct totals *totals,
			    const struct costs *costs, const struct times *times, double cpu_ns)
{
	struct conclusions conclusions = { .sequences = sequences_find(windows) };
	size_t i;

	conclusions.scale = windows->calls ? (double)totals->calls / (double)windows->calls : 1;
	conclusions.scale_error = windows->halvings ? 1 / sqrt((double)windows->count) : 0;
	for (i = 0; i < conclusions.sequences->count; i++)
		conclusions.plans[i] = plan_of(conclusions.sequences, &conclusions.sequences->of[i],
					       conclusions.scale);
	add_savings(&conclusions, windows, totals, costs, times, cpu_ns);
	if (!conclusions.savings[OF_FILES].missing)
		conclusions.hindrance = costs->statx_many.hindrance;
	return conclusions;
}

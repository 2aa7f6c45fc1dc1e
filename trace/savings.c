// SPDX-License-Identifier: MIT
#include "savings.h"

#include <math.h>
#include <string.h>
#include <sys/syscall.h>

#include "common/memory.h"
#include "names.h"
#include "shapes.h"

#define TINY 4096     /* bytes: less is a tiny read or write */
#define LARGE 65536.0 /* the buffer to use instead */
#define BETWEEN 4     /* calls from one to the next of the same kind, as in a loop that copies */

#define OF_FILES 1 /* the saving by one call for many files */

/* How many calls a way applies to. */
struct amount {
	double calls;
	double error; /* relative */
};

/* ---- counting ---- */

static struct amount crossings_in_batches(const struct findings *findings)
{
	struct amount amount = { .error = findings->scale_error };
	size_t i;

	for (i = 0; i < findings->sequences->count; i++) {
		const struct plan *plan = &findings->plans[i];

		amount.calls += plan->turns * (plan->calls - plan->batches);
	}
	return amount;
}

static struct amount calls_by_name(const struct totals *totals, const char *const names[])
{
	struct amount amount = { 0 };
	int nr;

	for (nr = 0; nr < CALL_LIMIT; nr++)
		if (totals->of[nr].calls && is_among(name_of_call(nr), names))
			amount.calls += (double)totals->of[nr].calls;
	return amount;
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

/* Whether only calls on other files come between the call at AT and one that it goes on from. */
static bool is_needless(const struct window *window, size_t at)
{
	const struct traced_call *call = &window->calls[at];
	size_t back;

	if (!is_tiny(call))
		return false;
	for (back = 1; back <= BETWEEN && back <= at; back++)
		if (uses(call - back, call->args[0]))
			return continues(call, call - back) && is_tiny(call - back);
	return false;
}

enum transfer { READS, WRITES, OF_DEVICES };

static enum transfer transfer_of(const struct traced_call *call)
{
	if (call->file && is_device(call->file))
		return OF_DEVICES;
	return call->nr == SYS_read || call->nr == SYS_pread64 ? READS : WRITES;
}

/* Reads, or writes, that would not be made if each moved LARGE bytes. */
static struct amount needless_transfers(const struct findings *findings,
					const struct windows *windows, enum transfer transfer)
{
	struct amount amount = { .error = findings->scale_error };
	size_t i, k;

	for (i = 0; i < windows->count; i++)
		for (k = 0; k < windows->of[i]->count; k++)
			if (transfer_of(&windows->of[i]->calls[k]) == transfer &&
			    is_needless(windows->of[i], k))
				amount.calls +=
					1 - (double)windows->of[i]->calls[k].args[2] / LARGE;
	amount.calls *= findings->scale;
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

static struct saving saving_of_buffers(const struct findings *findings,
				       const struct windows *windows, const struct costs *costs,
				       double cpu_ns)
{
	const struct way ways[] = { [READS] = costs->tiny_read,
				    [WRITES] = costs->tiny_write,
				    [OF_DEVICES] = costs->tiny_device };
	struct saving saving = { .missing = "" };
	enum transfer transfer;

	for (transfer = READS; transfer <= OF_DEVICES; transfer++)
		saving = sum_of(saving,
				saving_of(ways[transfer],
					  needless_transfers(findings, windows, transfer), cpu_ns));
	return saving;
}

static void add(struct findings *findings, size_t at, const char *name, const char *what,
		struct saving saving)
{
	saving.name = name;
	saving.what = what;
	findings->savings[at] = saving;
}

static void add_savings(struct findings *findings, const struct windows *windows,
			const struct totals *totals, const struct costs *costs,
			const struct times *times, double cpu_ns)
{
	static const char *const stats[] = { "stat", "lstat", "newfstatat", "statx", NULL };
	static const char *const clocks[] = { "clock_gettime", "gettimeofday", "time", NULL };
	struct way prefault = costs->prefault;
	struct amount faults = { times->missing ? 0 : (double)times->page_faults, 0 };

	if (times->missing)
		prefault.missing = "page faults were not counted: there was no untraced run";
	/* Anything from none to all of the faults can be avoided: a uniform distribution. */
	prefault.saved.error = hypot(prefault.saved.error / 2, prefault.saved.value / sqrt(12));
	prefault.saved.value /= 2;
	add(findings, 0, "batch",
	    keep_text("a batch for each sequence, %s",
		      costs->batch_engine ? keep_text("on the engine %s", costs->batch_engine) :
					    "on a kernel with the engine syscall or device"),
	    saving_of(costs->batch, crossings_in_batches(findings), cpu_ns));
	add(findings, OF_FILES, "files",
	    "ferry_statx_many() or ferry_walk(), on all CPUs, for attributes",
	    saving_of(costs->statx_many, calls_by_name(totals, stats), cpu_ns));
	add(findings, 2, "vdso", "the vDSO for the time",
	    saving_of(costs->vdso, calls_by_name(totals, clocks), cpu_ns));
	add(findings, 3, "buffers", "buffers of 64 KiB for tiny reads and writes",
	    saving_of_buffers(findings, windows, costs, cpu_ns));
	add(findings, 4, "faults", "ferry_prefault() or large pages for page faults",
	    saving_of(prefault, faults, cpu_ns));
}

struct findings conclude(const struct windows *windows, const struct totals *totals,
			 const struct costs *costs, const struct times *times, double cpu_ns)
{
	struct findings findings = { .sequences = sequences_find(windows) };
	size_t i;

	findings.scale = windows->calls ? (double)totals->calls / (double)windows->calls : 1;
	findings.scale_error = windows->halvings ? 1 / sqrt((double)windows->count) : 0;
	for (i = 0; i < findings.sequences->count; i++)
		findings.plans[i] =
			plan_of(findings.sequences, &findings.sequences->of[i], findings.scale);
	add_savings(&findings, windows, totals, costs, times, cpu_ns);
	if (!findings.savings[OF_FILES].missing)
		findings.hindrance = costs->statx_many.hindrance;
	return findings;
}

// SPDX-License-Identifier: MIT
/* ferry bench flexsc: posted calls beside plain ones, batches and io_uring. */
#include "flexsc.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ferry_flexsc.h>

#include "cases.h"
#include "common/memory.h"
#include "common/messages.h"
#include "measure/harness/options.h"
#include "measure/harness/process.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/machine.h"
#include "measure/harness/steps.h"
#include "measure/harness/turns.h"

/* The fewest calls of a thread in a trial, so that starting together hardly counts. */
#define MANY 400

/* What starting and ending a thread takes, ns, roughly. */
#define START_NS 50000.0

/* Children store results in shared memory, which is kept. */
struct session {
	struct run *run;
	struct cell *cells; /* shared */
	size_t count;
	long runners;	       /* at most */
	int *cpus;	       /* of the runners */
	struct runner *runner; /* shared */
};

/* ---- the cells ---- */

static const char *name_of(const struct cell *cell)
{
	if (cell->way == FLEXSC)
		return keep_text("%s flexsc %ldx%ld W%.0f", cell->call, cell->threads,
				 cell->runners, cell->work);
	if (cell->way == PTHREADS)
		return keep_text("%s pthreads %ld W%.0f", cell->call, cell->threads, cell->work);
	return keep_text("%s %s W%.0f", cell->call, way_name(cell->way), cell->work);
}

static void add_cell(struct session *session, struct cell cell)
{
	long calls = flexsc_settings(session->run)->calls;

	cell.name = name_of(&cell);
	cell.way_name = way_name(cell.way);
	cell.calls = calls < MANY * cell.threads ? MANY * cell.threads : calls;
	session->cells[session->count++] = cell;
}

static void add_threads(struct session *session, struct cell cell)
{
	const struct flexsc_settings *s = flexsc_settings(session->run);
	size_t t;

	for (t = 0; t < s->threads.count; t++) {
		cell.threads = (long)s->threads.of[t];
		add_cell(session, cell);
	}
}

static void list_cells(struct session *session)
{
	const struct flexsc_settings *s = flexsc_settings(session->run);
	size_t c, w;

	session->cells = share(s->calls_made.count * s->work.count *
			       (PTHREADS + (1 + (size_t)session->runners) * s->threads.count) *
			       sizeof(*session->cells));
	for (c = 0; c < s->calls_made.count; c++) {
		for (w = 0; w < s->work.count; w++) {
			struct cell cell = { .call = s->calls_made.of[c],
					     .work = s->work.of[w],
					     .base = session->count };

			for (cell.way = PLAIN; cell.way < PTHREADS; cell.way++) {
				cell.missing = way_missing(cell.way, cell.call);
				add_cell(session, cell);
			}
			cell.missing = NULL;
			add_threads(session, cell);
			cell.way = FLEXSC;
			for (cell.runners = 1; cell.runners <= session->runners; cell.runners++)
				add_threads(session, cell);
		}
	}
}

/* ---- measuring ---- */

static bool time_trial(struct session *session, size_t index, struct job *job, double *value)
{
	struct cell *cell = &session->cells[index];
	struct job warmup = *job;

	warmup.calls = session->run->settings->warmup;
	if (!way_run(cell->way, &warmup) || !way_run(cell->way, job))
		return false;
	if (interrupted())
		return true;
	note_duration(session->run, job->taken);
	cell->caller += job->callers / (double)job->calls;
	cell->others += fmax(0, job->others) / (double)job->calls;
	*value = job->taken / (double)job->calls;
	return true;
}

static void set_latency(struct cell *cell, const struct job *job)
{
	static const double fractions[] = { 0.5, 0.9, 0.99, 1 };
	size_t i;

	sort_values(job->samples, (size_t)job->calls);
	for (i = 0; i < COUNT_OF(fractions); i++)
		cell->latency[i] = quantile(job->samples, (size_t)job->calls, fractions[i]);
}

/* Apart from the trials, since taking the time at every call takes time. */
static bool time_latency(struct session *session, size_t index, struct job *job)
{
	struct cell *cell = &session->cells[index];
	bool ran;

	job->samples = allocate((size_t)job->calls, sizeof(*job->samples));
	ran = way_run(cell->way, job);
	if (!interrupted())
		set_latency(cell, job);
	free(job->samples);
	return ran;
}

/* Entries for all that THREADS threads post: a power of two. */
static unsigned int entries_for(long threads)
{
	unsigned int entries = 64;

	while (entries < threads * POSTED_AT_ONCE)
		entries *= 2;
	return entries;
}

static bool start_runners(const struct session *session, long runners, long threads,
			  struct ferry_flexsc **flexsc)
{
	const struct ferry_flexsc_options options = {
		.runners = (unsigned int)runners,
		.entries = entries_for(threads),
		.cpus = session->cpus,
	};
	int error = ferry_flexsc_start(flexsc, &options);

	if (error)
		complain("bench: the runners (%ld) do not start: %s", runners, strerror(-error));
	return !error;
}

/* Only this cell has runners. */
static bool run_cell(struct session *session, size_t index, bool latency, double *value)
{
	const struct cell *cell = &session->cells[index];
	struct job job = {
		.call = cell->call,
		.calls = cell->calls,
		.loops = work_loops(cell->work),
		.threads = cell->threads,
		.cpu = sched_getcpu(),
		.other_cpu = session->cpus[0],
	};
	bool ran;

	if (cell->way == FLEXSC &&
	    !start_runners(session, cell->runners, cell->threads, &job.flexsc))
		return false;
	ran = latency ? time_latency(session, index, &job) :
			time_trial(session, index, &job, value);
	ferry_flexsc_stop(job.flexsc);
	ways_wait_until_alone();
	return ran;
}

static int begin(void *context, size_t trial)
{
	(void)context;
	(void)trial;
	ways_open();
	return 0;
}

static int measure_cell(void *context, size_t index, size_t trial, double *value)
{
	struct session *session = context;

	if (!trial && !run_cell(session, index, true, value))
		return EXIT_FOUND;
	return run_cell(session, index, false, value) ? 0 : EXIT_FOUND;
}

/* ---- a runner by itself ---- */

/* Posts writes without end.  The runner stays awake, as it would at full speed. */
static void post_calls(volatile long *count)
{
	const struct ferry_flexsc_options options = { .spin_ns = LONG_MAX };
	const long args[] = { open("/dev/null", O_WRONLY | O_CLOEXEC), (long)"x", 1 };
	long tickets[POSTED_AT_ONCE] = { 0 }, i;
	struct ferry_flexsc *flexsc;

	if (ferry_flexsc_start(&flexsc, &options))
		return;
	for (i = 0;; i++) {
		if (i >= POSTED_AT_ONCE &&
		    ferry_flexsc_wait(flexsc, tickets[i % POSTED_AT_ONCE]) != 1)
			return;
		tickets[i % POSTED_AT_ONCE] = ferry_flexsc_post(flexsc, SYS_write, args, 3);
		++*count;
	}
}

static int look_at_runner(void *context)
{
	const struct timespec settle = { .tv_nsec = 100000000 }, second = { .tv_sec = 1 };
	struct session *session = context;
	struct ferry_flexsc *flexsc;
	long before;

	if (!start_runners(session, 1, 1, &flexsc))
		return EXIT_FOUND;
	session->runner->in_kernel = ferry_flexsc_in_kernel(flexsc);
	nanosleep(&settle, NULL);
	before = ferry_flexsc_cpu_ns(flexsc);
	nanosleep(&second, NULL);
	session->runner->idle_cpu = (double)(ferry_flexsc_cpu_ns(flexsc) - before);
	ferry_flexsc_stop(flexsc);
	return 0;
}

/* ---- the bench ---- */

/* The children have added up what is used in all trials. */
static void set_means(struct session *session)
{
	struct cell *cell;

	for (cell = session->cells; cell < session->cells + session->count; cell++) {
		cell->caller /= (double)cell->trials.count;
		cell->others /= (double)cell->trials.count;
	}
}

static int measure(struct run *run)
{
	struct session session = { .run = run, .runner = share(sizeof(struct runner)) };
	const struct turns turns = {
		.what = "trial and cell", .begin = begin, .run = measure_cell, .context = &session
	};
	int status;

	session.runners = list_cpus(&session.cpus);
	if (flexsc_settings(run)->runners && flexsc_settings(run)->runners < session.runners)
		session.runners = flexsc_settings(run)->runners;
	work_loops(1);
	list_cells(&session);
	status = run_in_child(look_at_runner, &session);
	if (!status)
		status = take_trials(run, turns, session.cells, session.count,
				     sizeof(*session.cells));
	set_means(&session);
	session.runner->caller_instructions = instructions_between(post_calls, MOST_WINDOWS);
	flexsc_conclude(run, session.cells, session.count, session.runner);
	return status;
}

static double seconds(const struct settings *common, double call_ns)
{
	const struct flexsc_settings *s = (const struct flexsc_settings *)common;
	double runners = s->runners ? (double)s->runners : 2, calls = (double)s->calls, total = 0;
	size_t w, t;

	for (w = 0; w < s->work.count; w++) {
		double ns = s->work.of[w] + 2 * call_ns;

		total += PTHREADS * calls * ns;
		for (t = 0; t < s->threads.count; t++)
			total += (1 + runners) * (fmax(calls, MANY * s->threads.of[t]) * ns +
						  s->threads.of[t] * START_NS);
	}
	return total * (double)(s->trials + 1) * (double)s->calls_made.count / 1e9;
}

#define AT(member) offsetof(struct flexsc_settings, member)

static const struct option_row options[] = {
	TRIALS_OPTION,
	WARMUP_OPTION,
	CALLS_OPTION(AT(calls)),
	{ 'c', NAMES_OPTION, "call", "NAME,...", "calls_made", AT(calls_made), "the calls to make",
	  .values = "write getpid" },
	{ 'f', NUMBERS_OPTION, "threads", "N,...", "threads", AT(threads), "POSIX threads", 1,
	  FLEXSC_MAX_ENTRIES / POSTED_AT_ONCE },
	{ 'o', NUMBER_OPTION, "runners", "N", "runners", AT(runners),
	  "the most runners; by default as many as CPUs", 1, FERRY_FLEXSC_MAX_RUNNERS },
	{ 'k', NUMBERS_OPTION, "work", "NS,...", "work_ns", AT(work), "work between two calls, ns",
	  0, 1000000 },
};

static const struct flexsc_settings defaults = { .warmup = 1000,
						 .trials = 5,
						 .calls = 5000,
						 .calls_made = { { "write", "getpid" }, 2 },
						 .work = { { 0, 75, 150, 300, 700, 2000 }, 6 },
						 .threads = { { 8, 64 }, 2 } };

const struct bench flexsc_bench = {
	.name = "flexsc",
	.summary = "posted calls beside plain ones, batches and io_uring",
	BENCH_SETTINGS(options, defaults),
	.seconds = seconds,
	.measure = measure,
	.example = "flexsc --call write --threads 64 --work 0,75,150,300",
};

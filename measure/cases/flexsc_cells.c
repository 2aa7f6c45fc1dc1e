// SPDX-License-Identifier: MIT
#include "flexsc_cells.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ferry_flexsc.h>

#include "cli/messages.h"
#include "measure/harness/child.h"
#include "measure/harness/memory.h"
#include "flexsc_ways.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/json.h"
#include "measure/harness/memory.h"
#include "measure/harness/progress.h"
#include "measure/harness/trials.h"

struct cell {
	const char *call, *missing;
	enum way way;
	long threads, runners; /* of FLEXSC, else 0 */
	double work;	       /* ns */
	size_t base;	       /* the plain cell of the same call and work */
};

/* What is known of a cell; the children write it to shared memory. */
struct measured {
	size_t count;	       /* trials */
	double caller, others; /* CPU time, ns per call, sums over the trials */
	double latency[4];     /* 50 %, 90 %, 99 %, most, ns */
	double phases[PHASES]; /* ns per call */
};

struct session {
	struct run *run;
	struct cell *cells;
	size_t count, done;
	struct measured *measured; /* shared */
	double *trials;		   /* shared: ns per call, cell by cell */
	size_t trial;
	long runners; /* at most */
	int *cpus;    /* of the runners */
};

/* ---- which there are ---- */

static void add_cell(struct session *session, struct cell cell)
{
	session->cells[session->count++] = cell;
}

static void add_flexsc(struct session *session, struct cell cell)
{
	const struct settings *s = session->run->settings;
	size_t t;

	for (cell.runners = 1; cell.runners <= session->runners; cell.runners++)
		for (t = 0; t < s->threads.count; t++) {
			cell.threads = (long)s->threads.of[t];
			add_cell(session, cell);
		}
}

static void list_cells(struct session *session)
{
	const struct settings *s = session->run->settings;
	size_t c, w;

	session->cells = allocate(s->workloads.count * s->work.count *
					  (FLEXSC + (size_t)session->runners * s->threads.count),
				  sizeof(*session->cells));
	for (c = 0; c < s->workloads.count; c++) {
		for (w = 0; w < s->work.count; w++) {
			struct cell cell = { .call = s->workloads.of[c],
					     .work = s->work.of[w],
					     .base = session->count };

			for (cell.way = PLAIN; cell.way < FLEXSC; cell.way++) {
				cell.missing = way_missing(cell.way, cell.call);
				add_cell(session, cell);
			}
			cell.missing = NULL;
			add_flexsc(session, cell);
		}
	}
}

/* ---- measuring ---- */

static double cpu_ns(clockid_t clock)
{
	struct timespec used;

	clock_gettime(clock, &used);
	return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

/* What others than the caller used: runners to the nanosecond, io_uring's to the kernel's tick. */
static double others_ns(enum way way, const struct job *job)
{
	switch (way) {
	case FLEXSC:
		return (double)ferry_flexsc_cpu_ns(job->flexsc);
	case URING:
	case SQPOLL:
		return cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	default:
		/* Nobody helps; the process's clock may still tell of a ring that ends. */
		return 0;
	}
}

static struct job job_for(const struct session *session, const struct cell *cell)
{
	struct job job = {
		.call = cell->call,
		.calls = session->run->settings->calls,
		.loops = work_loops(cell->work),
		.threads = cell->threads,
		.other_cpu = session->cpus[0],
	};

	if (job.calls < 4 * job.threads)
		job.calls = 4 * job.threads;
	return job;
}

static bool time_trial(struct session *session, size_t index, struct job *job)
{
	const struct cell *cell = &session->cells[index];
	struct measured *measured = &session->measured[index];
	struct job warmup = *job;
	double start, taken, caller, others;

	warmup.calls = session->run->settings->warmup;
	if (!way_run(cell->way, &warmup))
		return false;
	caller = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	others = others_ns(cell->way, job);
	start = now_ns();
	if (!way_run(cell->way, job))
		return false;
	taken = now_ns() - start;
	caller = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - caller;
	others = others_ns(cell->way, job) - others;
	if (interrupted())
		return true;
	note_duration(session->run, taken);
	measured->caller += caller / (double)job->calls;
	measured->others += fmax(0, others) / (double)job->calls;
	session->trials[index * (size_t)session->run->settings->trials + measured->count++] =
		taken / (double)job->calls;
	return true;
}

/* Apart from the trials, since taking the time at every call takes time. */
static bool time_latency(struct session *session, size_t index, struct job *job)
{
	static const double fractions[] = { 0.5, 0.9, 0.99, 1 };
	struct measured *measured = &session->measured[index];
	size_t i;
	bool ran;

	job->samples = allocate((size_t)job->calls, sizeof(*job->samples));
	ran = way_run(session->cells[index].way, job);
	sort_values(job->samples, (size_t)job->calls);
	for (i = 0; i < 4; i++)
		measured->latency[i] = quantile(job->samples, (size_t)job->calls, fractions[i]);
	for (i = 0; i < PHASES; i++)
		measured->phases[i] = job->phases[i] / (double)job->calls;
	free(job->samples);
	return ran;
}

static bool start_runners(const struct session *session, long runners, bool timed,
			  struct ferry_flexsc **flexsc)
{
	const struct ferry_flexsc_options options = {
		.runners = (unsigned int)runners,
		.cpus = session->cpus,
		.flags = timed ? FERRY_FLEXSC_TIMED : 0,
	};
	int error = ferry_flexsc_start(flexsc, &options);

	if (error)
		complain("bench: %ld runners do not start: %s", runners, strerror(-error));
	return !error;
}

/* Only this cell has runners now, and stacks: a process may not map those of all of them. */
static bool measure_cell(struct session *session, size_t index, bool timed)
{
	const struct cell *cell = &session->cells[index];
	struct job job = job_for(session, cell);
	bool ran;

	if (cell->way == FLEXSC && !start_runners(session, cell->runners, timed, &job.flexsc))
		return false;
	ran = timed ? time_latency(session, index, &job) : time_trial(session, index, &job);
	ferry_flexsc_stop(job.flexsc);
	ways_wait_until_alone();
	return ran;
}

static int measure_trial(void *context)
{
	struct session *session = context;
	size_t i;

	ways_open();
	for (i = 0; i < session->count && !interrupted(); i++) {
		if (session->cells[i].missing)
			continue;
		if (!session->trial && !measure_cell(session, i, true))
			return EXIT_FOUND;
		if (!measure_cell(session, i, false))
			return EXIT_FOUND;
		progress_at(session->trial * session->count + i + 1);
	}
	return 0;
}

/* ---- where the runners go ---- */

/* All CPUs that this process may use, the one it is on last. */
static long list_cpus(int **cpus)
{
	cpu_set_t all, may, now;
	long count = 0;
	int cpu, own = sched_getcpu();

	*cpus = allocate(CPU_SETSIZE, sizeof(**cpus));
	memset(&all, 0xff, sizeof(all));
	if (sched_getaffinity(0, sizeof(now), &now) || sched_setaffinity(0, sizeof(all), &all) ||
	    sched_getaffinity(0, sizeof(may), &may) || sched_setaffinity(0, sizeof(now), &now)) {
		(*cpus)[0] = -1;
		return 1;
	}
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &may) && cpu != own)
			(*cpus)[count++] = cpu;
	(*cpus)[count++] = own;
	return count;
}

/* ---- as JSON ---- */

static json_t *latency_as_json(const struct measured *m)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "p50", m->latency[0], "p90", m->latency[1], "p99",
			 m->latency[2], "max", m->latency[3]);
}

static json_t *phases_as_json(const struct cell *cell, const struct measured *m)
{
	json_t *phases = json_object();
	size_t i;

	if (cell->way != FLEXSC) {
		json_decref(phases);
		return json_null();
	}
	for (i = 0; i < PHASES; i++)
		json_object_set_new(phases, phase_names[i], json_number(m->phases[i]));
	return phases;
}

static void name_cell(const struct cell *cell, char *name, size_t size)
{
	if (cell->way == FLEXSC)
		snprintf(name, size, "%s flexsc %ldx%ld W%.0f", cell->call, cell->threads,
			 cell->runners, cell->work);
	else
		snprintf(name, size, "%s %s W%.0f", cell->call, way_name(cell->way), cell->work);
}

static json_t *base_of_cell(const struct cell *cell)
{
	char name[96];

	name_cell(cell, name, sizeof(name));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:f, s:b, s:s?}", "name", name, "call",
			 cell->call, "way", way_name(cell->way), "threads",
			 cell->threads ? json_integer(cell->threads) : json_null(), "runners",
			 cell->runners ? json_integer(cell->runners) : json_null(), "work_ns",
			 cell->work, "available", !cell->missing, "reason", cell->missing);
}

static json_t *cell_as_json(const struct session *session, size_t index)
{
	const struct cell *cell = &session->cells[index];
	const struct measured *m = &session->measured[index];
	size_t per_cell = (size_t)session->run->settings->trials;
	const double *trials = &session->trials[index * per_cell];
	struct summary s = summarize(trials, m->count, session->run->settings->bootstrap);
	json_t *json = base_of_cell(cell), *more;

	more = json_pack("{s:I, s:o, s:f, s:f, s:f, s:f, s:f, s:o, s:f, s:f, s:o, s:o}", "calls",
			 (json_int_t)job_for(session, cell).calls, "trials_ns",
			 json_numbers(trials, m->count), "mean", s.mean, "min", s.min, "max", s.max,
			 "sd", s.sd, "median", s.median, "se", json_number(s.se), "caller_cpu_ns",
			 m->caller / (double)m->count, "other_cpu_ns", m->others / (double)m->count,
			 "latency_ns", latency_as_json(m), "phases_ns", phases_as_json(cell, m));
	json_object_update(json, more);
	json_decref(more);
	set_paired_ratio(json, session->run, trials, &session->trials[cell->base * per_cell],
			 m->count);
	return json;
}

static json_t *cells_as_json(const struct session *session)
{
	json_t *cells = json_array();
	size_t i;

	for (i = 0; i < session->count; i++) {
		if (session->cells[i].missing)
			json_array_append_new(cells, base_of_cell(&session->cells[i]));
		else if (session->measured[i].count)
			json_array_append_new(cells, cell_as_json(session, i));
	}
	return cells;
}

int measure_cells(struct run *run, json_t **cells)
{
	const struct settings *settings = run->settings;
	struct session session = { .run = run };
	size_t trials_size;
	int status;

	session.runners = list_cpus(&session.cpus);
	if (settings->runners && settings->runners < session.runners)
		session.runners = settings->runners;
	work_loops(1);
	list_cells(&session);
	trials_size = session.count * (size_t)settings->trials * sizeof(double);
	session.measured = share(session.count * sizeof(*session.measured));
	session.trials = share(trials_size);
	status = run_trials(run, "trial and cell", session.count, &session.trial, measure_trial,
			    &session);
	*cells = cells_as_json(&session);
	unshare_memory(session.trials, trials_size);
	unshare_memory(session.measured, session.count * sizeof(*session.measured));
	free(session.cpus);
	free(session.cells);
	return status;
}

json_t *find_cell(const json_t *cells, const char *call, const char *way, long threads,
		  long runners, double work)
{
	json_t *cell;
	size_t i;

	json_array_foreach(cells, i, cell) {
		if (strcmp(json_string_at(cell, "call", ""), call) != 0 ||
		    strcmp(json_string_at(cell, "way", ""), way) != 0 ||
		    json_number_at(cell, "work_ns") != work || !json_true_at(cell, "available"))
			continue;
		if (json_integer_value(json_object_get(cell, "threads")) == threads &&
		    json_integer_value(json_object_get(cell, "runners")) == runners)
			return cell;
	}
	return NULL;
}

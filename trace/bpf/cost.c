// SPDX-License-Identifier: MIT
#include "cost.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../partner.h"
#include "common/record.h"
#include "measure/harness/clock.h"
#include "measure/harness/empty.h"
#include "measure/harness/statistics.h"

#define NO_SAMPLE 63 /* halvings: no window is in it */
#define EMPTY_CALLS 1000
#define TRIALS 24
#define TIMES 64 /* in a trial, at most */

static struct figure summary_of(const double ns[], size_t count)
{
	const struct bootstrap bootstrap = { .seed = 1, .resamples = 200 };
	struct summary summary;

	if (!count)
		return (struct figure){ NAN, NAN };
	summary = summarize(ns, count, bootstrap);
	return (struct figure){ summary.median, summary.se };
}

/* ---- calls that no kernel has, timed as those of the program are ---- */

struct empty_calls {
	double ns[EMPTY_CALLS], between[EMPTY_CALLS];
	size_t count;
};

static void take_empty(void *context, const struct bpf_call *call)
{
	struct empty_calls *empty = context;

	if (call->nr != UNIMPLEMENTED || !call->began || call->away_ns ||
	    empty->count == EMPTY_CALLS)
		return;
	empty->ns[empty->count] = (double)call->wall_ns;
	empty->between[empty->count++] = (double)call->between_ns;
}

static void measure_empty(struct bpf *bpf, struct tracing_cost *cost)
{
	static struct empty_calls empty;
	int i;

	bpf_receive(bpf);
	bpf->take = take_empty;
	bpf->context = &empty;
	for (i = 0; i < EMPTY_CALLS + WINDOW_CALLS; i++)
		syscall(UNIMPLEMENTED);
	bpf_receive(bpf);
	cost->empty_call = summary_of(empty.ns, empty.count);
	cost->empty_between = summary_of(empty.between, empty.count);
}

/* ---- what is done, traced and not ---- */

#define PAGES (2 * TRIALS * TIMES) /* traced and not, each once */

struct bench {
	int file, directory;
	char *memory;
	size_t size, touched; /* of it */
	struct partner partner;
};

/*
 * To one CPU, so that each turn is a switch; and to another than this one, where the ring has been
 * read: the memory of the ring is as far away as for the program.
 */
static void move_to_another_cpu(cpu_set_t *before)
{
	const size_t here = (size_t)sched_getcpu();
	cpu_set_t one;
	size_t cpu = 0;

	sched_getaffinity(0, sizeof(*before), before);
	while (cpu < CPU_SETSIZE && (cpu == here || !CPU_ISSET(cpu, before)))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu < CPU_SETSIZE ? cpu : here, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int open_bench(struct bench *bench)
{
	bench->file = memfd_create("ferry-trace", MFD_CLOEXEC);
	bench->directory = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bench->touched = 0;
	bench->size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	bench->memory = mmap(NULL, bench->size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bench->memory == MAP_FAILED)
		return -errno;
	madvise(bench->memory, bench->size, MADV_NOHUGEPAGE);
	return partner_start(&bench->partner);
}

static void close_bench(struct bench *bench)
{
	partner_end(&bench->partner);
	munmap(bench->memory, bench->size);
	close(bench->directory);
	close(bench->file);
}

/* Short calls, but not the shortest: tracing also evicts what they need. */

static void ask_nothing(struct bench *bench)
{
	struct timespec now;

	(void)bench;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

static void ask_file(struct bench *bench)
{
	lseek(bench->file, 0, SEEK_CUR);
}

static void ask_path(struct bench *bench)
{
	struct stat status;

	(void)bench;
	stat("/usr/share", &status);
}

static void ask_both(struct bench *bench)
{
	struct stat status;

	fstatat(bench->directory, "share", &status, 0);
}

static void touch_page(struct bench *bench)
{
	(void)*(volatile char *)(bench->memory + bench->touched);
	bench->touched += bench->size / PAGES;
}

static void take_turn(struct bench *bench)
{
	partner_take_turn(&bench->partner);
}

static int end_at_once(void *context)
{
	(void)context;
	return 0;
}

static void start_process(struct bench *bench)
{
	static _Alignas(16) char stack[16384];
	const pid_t child =
		clone(end_at_once, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

	(void)bench;
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* A child comes to a CPU once, and so does the parent that waits for it. */
static const struct {
	void (*run)(struct bench *bench);
	int times;	  /* in a trial: no deed takes most of the time */
	int calls, turns; /* that are a part of it */
	enum deed call;
} deeds[DEEDS] = {
	[AT_NOTHING] = { ask_nothing, TIMES, 0, 0, AT_NOTHING },
	[AT_FILE] = { ask_file, TIMES, 0, 0, AT_NOTHING },
	[AT_PATH] = { ask_path, TIMES, 0, 0, AT_NOTHING },
	[AT_BOTH] = { ask_both, TIMES, 0, 0, AT_NOTHING },
	[FAULT] = { touch_page, TIMES, 0, 0, AT_NOTHING },
	[TURN] = { take_turn, TIMES / 4, 2, 0, AT_FILE },
	[THREAD] = { start_process, TIMES / 8, 2, 2, AT_NOTHING },
};

static double time_with_children(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) +
	       1e9 * (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       1e3 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static double time_of(enum deed deed, struct bench *bench)
{
	const double start = time_with_children();
	int i;

	for (i = 0; i < deeds[deed].times; i++)
		deeds[deed].run(bench);
	return (time_with_children() - start) / deeds[deed].times;
}

/*
 * In turn, and the least of each: what happens besides on a busy machine only adds to a time, but
 * for longer than a trial.
 */
static void measure_deeds(struct bpf *bpf, struct bench *bench, enum deed end,
			  struct figure costs[])
{
	double trials[DEEDS][TRIALS];
	enum deed deed;
	int i;

	/* Whether calls are in the sample changes with the next window. */
	for (i = 0; i < WINDOW_CALLS; i++)
		ask_nothing(bench);
	for (i = 0; i < TRIALS; i++)
		for (deed = AT_NOTHING; deed < end; deed++)
			trials[deed][i] = time_of(deed, bench);
	for (deed = AT_NOTHING; deed < end; deed++) {
		sort_values(trials[deed], TRIALS);
		costs[deed].value = trials[deed][0];
		costs[deed].error = quantile(trials[deed], TRIALS, 0.25) - trials[deed][0];
	}
	bpf_receive(bpf);
}

/* ---- stacks ---- */

#define STACKS_A_TRIAL 128 /* as many as the ring has room for */

static double time_of_calls(struct bpf *bpf)
{
	double start;
	int i;

	bpf_receive(bpf);
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (i = 0; i < STACKS_A_TRIAL; i++)
		syscall(UNIMPLEMENTED);
	return (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / STACKS_A_TRIAL;
}

/* Of a stack that is sent, besides its call. */
static struct figure cost_of_stack(struct bpf *bpf)
{
	double without[TRIALS], with[TRIALS];
	struct figure cost;
	size_t i;

	for (i = 0; i < TRIALS; i++) {
		bpf->state->stacks = false;
		without[i] = time_of_calls(bpf);
		bpf->state->stacks = true;
		bpf->state->stacked[UNIMPLEMENTED] = 0;
		with[i] = time_of_calls(bpf);
	}
	bpf->state->stacks = false;
	cost.value = median_of(with, TRIALS) - median_of(without, TRIALS);
	cost.value *= (double)STACKS_A_TRIAL /
		      (STACKS_FIRST + (double)(STACKS_A_TRIAL - STACKS_FIRST) / STACKS_EVERY);
	cost.error = fabs(cost.value) / 2; /* those of the program are deeper */
	return cost;
}

/* ---- how long sending takes ---- */

#define LONGEST 10000 /* ns: the thread was switched away from meanwhile */

static enum deed deed_at(bool file, bool path)
{
	return (file ? AT_FILE : 0U) | (path ? AT_PATH : 0U);
}

void note_sending(struct sendings *sendings, struct sending *last, const struct bpf_call *call)
{
	const double ns = (double)call->began - (double)call->between_ns - last->since;

	if (last->since > 0 && call->began && call->between_ns && ns > 0 && ns < LONGEST) {
		sendings->ns[last->deed] += ns;
		sendings->count[last->deed]++;
	}
	last->since = call->began ? (double)(call->began + call->wall_ns) : 0;
	last->deed = deed_at(call->file.is_open, call->text_is == IS_PATH);
}

struct noted {
	struct sendings *sendings;
	struct sending last;
};

static void take_sending(void *context, const struct bpf_call *call)
{
	struct noted *noted = context;

	if (call->nr >= 0)
		note_sending(noted->sendings, &noted->last, call);
}

/* How many times as long as in the loops. */
static double slowness(const struct sendings *program, const struct sendings *loops)
{
	double ns = 0, expected = 0;
	enum deed deed;

	for (deed = AT_NOTHING; deed < LOOKS; deed++) {
		if (!loops->count[deed])
			continue;
		ns += program->ns[deed];
		expected += program->count[deed] * loops->ns[deed] / loops->count[deed];
	}
	return expected > 0 ? fmax(1, ns / expected) : 1;
}

/* ---- all ---- */

static void ignore(void *context, const struct bpf_call *call)
{
	(void)context;
	(void)call;
}

static void trace_this_process(struct bpf *bpf)
{
	bpf->take = ignore;
	bpf->state->process = (uint32_t)getpid();
	bpf->state->held = false;
	bpf->state->cgroup = 0;
	bpf->state->stacks = false;
	bpf->state->halvings = NO_SAMPLE;
}

static struct figure less(struct figure cost, double times, struct figure part)
{
	return (struct figure){ fmax(0, cost.value - times * part.value),
				hypot(cost.error, times * part.error) };
}

static void subtract(struct tracing_cost *cost, const struct figure untraced[DEEDS])
{
	enum deed deed;

	for (deed = AT_NOTHING; deed < LOOKS; deed++) {
		cost->timed[deed] = less(cost->timed[deed], 1, cost->sent[deed]);
		cost->sent[deed] = less(cost->sent[deed], 1, cost->of[deed]);
	}
	for (deed = AT_NOTHING; deed < DEEDS; deed++) {
		struct figure *of = &cost->of[deed];

		*of = less(*of, 1, untraced[deed]);
		*of = less(*of, deeds[deed].calls, cost->of[deeds[deed].call]);
		*of = less(*of, deeds[deed].turns, cost->of[TURN]);
	}
}

static int measure_with(struct bpf *bpf, struct bench *bench, bool stacks,
			struct tracing_cost *cost)
{
	struct noted noted = { .sendings = &cost->sendings };
	struct figure untraced[DEEDS];

	cost->sendings = (struct sendings){ 0 };
	trace_this_process(bpf);
	bpf_detach(bpf);
	measure_deeds(bpf, bench, DEEDS, untraced);
	if (bpf_attach(bpf) || bpf_follow(bpf))
		return -EINVAL;
	/* Once calls are left out of the sample, their beginnings are not looked at. */
	bpf_detach_begins(bpf);
	measure_deeds(bpf, bench, DEEDS, cost->of);
	bpf->state->halvings = 0;
	measure_deeds(bpf, bench, LOOKS, cost->sent);
	if (bpf_attach(bpf))
		return -EINVAL;
	bpf->take = take_sending;
	bpf->context = &noted;
	measure_deeds(bpf, bench, LOOKS, cost->timed);
	subtract(cost, untraced);
	measure_empty(bpf, cost);
	if (stacks)
		cost->stack = cost_of_stack(bpf);
	bpf_receive(bpf);
	return 0;
}

int measure_tracing(struct bpf *bpf, bool stacks, struct tracing_cost *cost)
{
	struct bench bench;
	cpu_set_t permitted;
	int error;

	move_to_another_cpu(&permitted);
	error = open_bench(&bench);
	if (!error) {
		error = measure_with(bpf, &bench, stacks, cost);
		close_bench(&bench);
	}
	sched_setaffinity(0, sizeof(permitted), &permitted);
	return error;
}

/* ---- what a program pays ---- */

static enum deed deed_of(const struct traced_call *call)
{
	return deed_at(call->file, call->paths[0]);
}

static void find_shares(const struct windows *windows, double shares[LOOKS])
{
	const double calls = fmax(1, (double)windows->calls);
	size_t i, k;

	for (i = 0; i < windows->count; i++)
		for (k = 0; k < windows->of[i]->count; k++)
			shares[deed_of(&windows->of[i]->calls[k])] += 1 / calls;
}

static void charge(struct figure *sum, double times, struct figure cost)
{
	sum->value += times * cost.value;
	sum->error += times * cost.error;
}

#define FAR_FROM_A_LOOP 0.1 /* relative: what these events evict, a loop of them finds again */

struct figure cost_of_events(const struct tracing_cost *cost, const struct windows *windows,
			     const struct sendings *sendings, const struct traced_events *events)
{
	const double times = slowness(sendings, &cost->sendings);
	double shares[LOOKS] = { 0 };
	struct figure sum = { 0 };
	enum deed deed;

	find_shares(windows, shares);
	for (deed = AT_NOTHING; deed < LOOKS; deed++) {
		charge(&sum, times * events->calls * shares[deed], cost->of[deed]);
		charge(&sum, times * events->sent * shares[deed], cost->sent[deed]);
		charge(&sum, times * events->timed * shares[deed], cost->timed[deed]);
	}
	charge(&sum, events->stacks, cost->stack);
	charge(&sum, events->faults, cost->of[FAULT]);
	charge(&sum, events->turns, cost->of[TURN]);
	charge(&sum, events->threads, cost->of[THREAD]);
	sum.error = hypot(sum.error, sum.value * FAR_FROM_A_LOOP);
	return sum;
}

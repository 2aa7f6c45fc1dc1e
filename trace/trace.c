// SPDX-License-Identifier: MIT
#include "trace.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf/collect.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "ptrace.h"
#include "texts.h"

/* ---- the time ---- */

/*
 * Most kernels look at each tick whether a thread is in user space, and divide its CPU time, which
 * is exact, by what they saw: a binomial sample, whose error Agresti and Coull estimate well even
 * for a few ticks.
 */
static double error_of_sampling(const struct times *times, double cpu_ns)
{
	struct timespec tick;
	double ticks, user;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	ticks = cpu_ns / (double)tick.tv_nsec;
	user = (ticks * times->user_ns / cpu_ns + 1) / (ticks + 2);
	return cpu_ns * sqrt(user * (1 - user) / (ticks + 2));
}

/* No share is below 0, whatever the errors of the others. */
static struct shares divide_time(const struct times *times, double calls, struct figure crossing,
				 double tracing_error)
{
	struct shares shares = { .missing = times->missing };
	double sampling;

	shares.cpu_ns = times->user_ns + times->system_ns;
	if (!shares.missing && shares.cpu_ns <= 0)
		shares.missing = "no CPU time was measured";
	if (shares.missing)
		return shares;
	sampling = error_of_sampling(times, shares.cpu_ns);
	shares.crossings.value = fmin(calls * crossing.value, shares.cpu_ns);
	shares.crossings.error = calls * crossing.error;
	shares.user.value = fmin(times->user_ns, shares.cpu_ns - shares.crossings.value);
	shares.kernel.value = shares.cpu_ns - shares.crossings.value - shares.user.value;
	shares.user.error = sampling;
	shares.kernel.error = hypot(sampling, hypot(shares.crossings.error, tracing_error));
	shares.waiting_ns = fmax(0, times->wall_ns - shares.cpu_ns);
	return shares;
}

/* ---- the run ---- */

static const char *name_of(const struct target *target)
{
	const char *slash;
	char *name, *byte;

	if (target->argv) {
		slash = strrchr(target->argv[0], '/');
		return slash && slash[1] ? slash + 1 : target->argv[0];
	}
	name = line_after(keep_text("/proc/%d/comm", target->pid), "");
	/* A process chooses its name, and a terminal would obey it. */
	for (byte = name; *byte; byte++)
		if (iscntrl((unsigned char)*byte))
			*byte = '?';
	return *name ? name : keep_text("process %d", target->pid);
}

static void observe_begin(void *context, pid_t thread, struct traced_call *call, void *own)
{
	const struct trace *trace = context;

	if (windows_want(&trace->windows, own))
		texts_read(thread, call);
}

static void observe_call(void *context, struct traced_call *call, void **own)
{
	struct trace *trace = context;
	struct window *open = *own;

	totals_add(&trace->totals, call);
	windows_add(&trace->windows, &open, call);
	*own = open;
}

static void observe_end(void *context, void *own)
{
	(void)context;
	windows_close(own);
}

static struct times times_of(const struct target *target, bool again, off_t input,
			     const struct trace *trace)
{
	if (!target->argv)
		return (struct times){ .missing = "ptrace slows a process down, and a running one "
						  "cannot be run again without it" };
	if (!again)
		return (struct times){ .missing = "--once leaves out the untraced run" };
	if (trace->collected.interrupted)
		return (struct times){ .missing = "the traced run was interrupted" };
	return run_untraced(target->argv, trace->totals.from_input, input);
}

static int trace_with_ptrace(const struct target *target, bool again, struct trace *trace)
{
	const struct observer observer = { observe_begin, observe_call, observe_end, trace };
	const off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	int error = collect_with_ptrace(target, &observer, &trace->collected);

	if (error)
		return error;
	trace->times = times_of(target, again, input, trace);
	trace->costs = measure_costs();
	return 0;
}

/* What calls cost more while they are traced, in the sample and outside it. */
static struct figure cost_of_tracing(const struct trace *trace)
{
	const struct figure crossing = trace->costs.crossing;
	const struct collected *collected = &trace->collected;
	const double sample = fmin((double)collected->in_sample, (double)trace->totals.calls);
	const double others = (double)trace->totals.calls - sample;
	const struct figure in_sample = collected->crossing_in_sample, other = collected->crossing;
	struct figure cost;

	cost.value = sample * fmax(0, in_sample.value - crossing.value) +
		     others * fmax(0, other.value - crossing.value);
	cost.error = sample * hypot(in_sample.error, crossing.error) +
		     others * hypot(other.error, crossing.error);
	return cost;
}

static int trace_with_bpf(const struct target *target, struct trace *trace)
{
	struct times *times = &trace->collected.times;
	int error;

	error = collect_with_bpf(target, &trace->windows, &trace->totals, &trace->collected);
	if (error)
		return error;
	trace->costs = measure_costs();
	trace->tracing = cost_of_tracing(trace);
	/* All of it is in the kernel; a busy machine can make it look longer. */
	trace->tracing.value = fmin(trace->tracing.value, times->system_ns);
	times->system_ns -= trace->tracing.value;
	times->wall_ns -= trace->tracing.value;
	trace->times = *times;
	return 0;
}

static int choose_method(const struct target *target, struct trace *trace)
{
	if (target->method == METHOD_PTRACE)
		return 0;
	trace->why_not_bpf = bpf_prepare();
	trace->by_bpf = !trace->why_not_bpf;
	if (trace->by_bpf || target->method == METHOD_AUTO)
		return 0;
	complain("trace: BPF is not available: %s", trace->why_not_bpf);
	return -ENOSYS;
}

int trace_run(const struct target *target, bool again, struct trace *trace)
{
	int error = choose_method(target, trace);

	trace->name = name_of(target);
	if (!error)
		error = trace->by_bpf ? trace_with_bpf(target, trace) :
					trace_with_ptrace(target, again, trace);
	if (error)
		return error;
	trace->shares = divide_time(&trace->times, (double)trace->totals.calls,
				    trace->costs.crossing, trace->tracing.error);
	trace->findings = conclude(&trace->windows, &trace->totals, &trace->costs, &trace->times,
				   trace->shares.missing ? NAN : trace->shares.cpu_ns);
	return 0;
}

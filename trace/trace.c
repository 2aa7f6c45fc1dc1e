// SPDX-License-Identifier: MIT
#include "trace.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "bpf/collect.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "measure/harness/clock.h"
#include "ptrace.h"
#include "reporter.h"
#include "stacks/images.h"
#include "stacks/sites.h"
#include "stacks/stack.h"
#include "texts.h"

/* ---- the time ---- */

#define TICKS_NEEDED 10 /* with fewer, the error is more than a seventh of the CPU time */

/* Of the kernel's clock that divides CPU time. */
static double ticks_in(double cpu_ns)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return cpu_ns / (double)tick.tv_nsec;
}

/*
 * Most kernels look at each tick whether a thread is in user space, and divide its CPU time, which
 * is exact, by what they saw: a binomial sample, whose error Agresti and Coull estimate well even
 * for a few ticks.
 */
static double error_of_sampling(const struct times *times, double cpu_ns)
{
	const double ticks = ticks_in(cpu_ns);
	double user;

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
	shares.undivided = ticks_in(shares.cpu_ns) < TICKS_NEEDED;
	if (shares.undivided)
		shares.user = shares.kernel = (struct figure){ NAN, NAN };
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
	if (target->cgroup)
		return shown_path(target->cgroup_path);
	name = line_after(keep_text("/proc/%d/comm", target->pids[0]), "");
	/* A process chooses its name, and a terminal would obey it. */
	for (byte = name; *byte; byte++)
		if (iscntrl((unsigned char)*byte))
			*byte = '?';
	return *name ? name : keep_text("process %d", target->pids[0]);
}

/* It or its process may have other code from now on. */
static bool maps_code(const struct traced_call *call)
{
	return call->nr == SYS_execve || call->nr == SYS_execveat ||
	       (call->nr == SYS_mmap && call->args[2] & PROT_EXEC);
}

static void stacks_read(pid_t thread, struct traced_call *call)
{
	static uint32_t numbers[CALL_LIMIT + 1];
	const uint32_t stands = stack_stands_for(numbers[call->nr]++);

	if (!stands)
		return;
	images_read(call->process, (uint64_t)now_ns());
	call->stack = stack_read(call->process, thread);
	if (call->stack)
		call->stack->stands = stands;
}

static void observe_begin(void *context, pid_t thread, struct traced_call *call, void *own)
{
	const struct trace *trace = context;

	if (!windows_want(&trace->windows, own))
		return;
	texts_read(thread, call);
	if (trace->stacks)
		stacks_read(thread, call);
}

static void observe_call(void *context, struct traced_call *call, void **own)
{
	struct trace *trace = context;
	struct window *open = *own;

	if (maps_code(call))
		images_forget(call->process);
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
	if (trace->number > 1)
		return (struct times){ .missing = "ptrace slows a program down, and a report is "
						  "about a part of its run" };
	if (trace->collected.interrupted)
		return (struct times){ .missing = "the traced run was interrupted" };
	if (!again)
		return (struct times){
			.missing = "ptrace slows a program down, and --twice, which runs it again "
				   "without, was not given"
		};
	return run_untraced(target->argv, trace->totals.from_input, input);
}

static void find_sites(const struct evidence *evidence, struct findings *findings)
{
	size_t i;

	images_sort();
	for (i = 0; i < findings->count; i++)
		findings->of[i].sites = sites_of(evidence, findings->of[i].kind);
	sites_end();
}

static void look_for_waste(struct trace *trace)
{
	const double cpu_ns = trace->shares.missing ? NAN : trace->shares.cpu_ns;
	const double wall_ns = trace->shares.missing ? NAN : trace->times.wall_ns;
	struct evidence evidence;

	trace->conclusions =
		conclude(&trace->windows, &trace->totals, &trace->costs, &trace->times, cpu_ns);
	evidence = collect_evidence(&trace->windows, &trace->totals, &trace->costs, &trace->times,
				    &trace->collected, &trace->conclusions, cpu_ns, wall_ns);
	add_times(&evidence, &trace->totals);
	trace->waits = waits_of(&evidence, &trace->wait_count);
	trace->findings = find_waste(&evidence);
	trace->indirect = indirect_cost(&evidence);
	add_indirect(&evidence, &trace->findings);
	if (trace->stacks)
		find_sites(&evidence, &trace->findings);
	free(evidence.of);
}

/* ---- reports ---- */

/* From what was collected to what is said. */
static void conclude_all(struct trace *trace)
{
	trace->shares = divide_time(&trace->times, (double)trace->totals.calls,
				    trace->costs.crossing, trace->tracing.error);
	look_for_waste(trace);
}

static void take_times_of_bpf(struct trace *trace)
{
	struct times *times = &trace->collected.times;
	double in_system;

	trace->tracing = trace->collected.tracing;
	/* A busy machine can make it look longer. */
	trace->tracing.value = fmin(trace->tracing.value, times->user_ns + times->system_ns);
	/* All of it is in the kernel, but in a few ticks the kernel may not have been seen. */
	in_system = fmin(trace->tracing.value, times->system_ns);
	times->system_ns -= in_system;
	times->user_ns -= trace->tracing.value - in_system;
	times->wall_ns -= trace->tracing.value;
	trace->times = *times;
}

static _Noreturn void print_interim(struct trace *trace)
{
	trace->is_interim = true;
	if (trace->by_bpf)
		take_times_of_bpf(trace);
	else
		trace->times.missing = "ptrace slows a program down";
	conclude_all(trace);
	trace->printer->print(trace->printer->context, trace);
	fflush(NULL);
	_exit(0);
}

static int report(void *context)
{
	struct trace *trace = context;
	const pid_t child = reporter_fork();

	if (!child)
		print_interim(trace);
	if (child < 0)
		return (int)child;
	trace->number++;
	windows_restart(&trace->windows);
	trace->totals = (struct totals){ 0 };
	return 0;
}

/* ---- the whole ---- */

static int trace_with_ptrace(const struct target *target, bool again, struct trace *trace)
{
	const struct observer observer = { observe_begin, observe_call, observe_end, report,
					   trace };
	const off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	int error = collect_with_ptrace(target, &observer, &trace->collected);

	if (error)
		return error;
	trace->times = times_of(target, again, input, trace);
	return 0;
}

static int trace_with_bpf(const struct target *target, struct trace *trace)
{
	const struct observer observer = { .report = report, .context = trace };

	return collect_with_bpf(target, &observer, &trace->windows, &trace->totals,
				&trace->collected);
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

/* Once something is traced, they would be too high; a signal that comes meanwhile ends it. */
static int measure_costs_first(struct trace *trace)
{
	trace->costs = measure_costs();
	if (!is_interrupted())
		return 0;
	complain("trace: interrupted before the trace began");
	return -EINTR;
}

int trace_run(const struct target *target, bool again, const struct printer *printer,
	      struct trace *trace)
{
	int error;

	block_signals(target);
	error = target->argv ? hold_program(target->argv, target->output) : 0;
	if (!error)
		error = choose_method(target, trace);
	trace->number = 1;
	trace->printer = printer;
	trace->stacks = target->stacks;
	trace->name = name_of(target);
	if (!error && target->reports)
		error = measure_costs_first(trace);
	if (!error)
		error = trace->by_bpf ? trace_with_bpf(target, trace) :
					trace_with_ptrace(target, again, trace);
	reporter_wait();
	drop_program();
	if (error)
		return error;
	if (!target->reports)
		trace->costs = measure_costs();
	if (trace->by_bpf)
		take_times_of_bpf(trace);
	conclude_all(trace);
	return 0;
}

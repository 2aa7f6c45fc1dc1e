// SPDX-License-Identifier: MIT
#include "collect.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include "../attach.h"
#include "../shapes.h"
#include "../stacks/images.h"
#include "../stacks/mappings.h"
#include "../stacks/stack.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/record.h"
#include "measure/harness/clock.h"
#include "measure/harness/empty.h"
#include "measure/harness/process.h"
#include "measure/harness/statistics.h"
#include "cost.h"
#include "counted.h"
#include "object.h"

/* ns; the ring has room for ten times as many calls as are made in it. */
#define READ_EVERY 5000000

#ifndef PIPEFS_MAGIC
#define PIPEFS_MAGIC 0x50495045
#endif

#define FIRST (-20)	 /* of all priorities */
#define TIMED_HALVINGS 1 /* then enough calls have been timed: the others do without */

static struct bpf bpf;

struct session {
	const struct target *target;
	struct windows *windows;
	struct collected *collected;
	struct totals *totals;
	const struct observer *observer; /* for its reports */
	struct tracing_cost cost;
	struct counted before; /* at the last report */
	long timed;	       /* calls since then whose beginnings were noted */
	struct sendings sendings;
	double since; /* on the clock of now_ns() */
	bool has_reported;
	void *open; /* windows, by tsearch(3) */
	pid_t root; /* that this process started, or 0 */
};

/* ---- what the programs are told ---- */

static uint8_t argument(const struct call *shape, const char *kind)
{
	const int k = first_argument(shape, kind);

	return k < 0 ? NO_ARGUMENT : (uint8_t)k;
}

const char *bpf_missing(void)
{
	return NULL;
}

const char *bpf_prepare(void)
{
	const char *why = bpf_load(&bpf);
	int nr;

	for (nr = 0; !why && nr < NUMBERS; nr++) {
		const struct call *shape = shape_of(nr);

		bpf.state->kinds[nr].path = argument(shape, "p");
		bpf.state->kinds[nr].descriptor = argument(shape, "d");
	}
	if (!why)
		bpf.state->page_shift =
			(uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	return why;
}

/* ---- the sample ---- */

struct open_window {
	uint64_t id;
	struct window *window;
	struct user_stack *stack; /* of its next call, or NULL */
	struct sending last;
};

static int compare(const void *a, const void *b)
{
	const struct open_window *one = a, *other = b;

	return (one->id > other->id) - (one->id < other->id);
}

static struct open_window *find(struct session *session, uint64_t id)
{
	const struct open_window key = { .id = id };
	void *found = tfind(&key, &session->open, compare);

	return found ? *(struct open_window **)found : NULL;
}

static struct open_window *find_or_add(struct session *session, uint64_t id)
{
	struct open_window *open = find(session, id);

	if (open)
		return open;
	open = allocate(1, sizeof(*open));
	open->id = id;
	open->window = windows_open(session->windows, id);
	if (!tsearch(open, &session->open, compare))
		abort();
	return open;
}

static void forget(struct session *session, struct open_window *open)
{
	tdelete(open, &session->open, compare);
	free(open->stack);
	free(open);
}

/* A regular file by its own name alone, where that was sent: nobody asks for its directories. */
static char *name_in_directory(const char *name)
{
	char *path = NULL;

	return asprintf(&path, "/%s", name) < 0 ? NULL : path;
}

/* The beginning of what /proc shows of a descriptor, as far as anyone asks for it. */
static char *name_of_file(const struct bpf_call *sent)
{
	const struct bpf_file *file = &sent->file;
	static const char *const memory[] = {
		[3] = "/dev/null", [5] = "/dev/zero", [9] = "/dev/urandom"
	};
	const unsigned int minor = file->device & 0xfffff, major = file->device >> 20;

	if (!file->is_open)
		return NULL;
	if (S_ISSOCK(file->mode))
		return strdup("socket:");
	if (file->magic == PIPEFS_MAGIC)
		return strdup("pipe:");
	if (file->magic == ANON_INODE_FS_MAGIC)
		return strdup("anon_inode:");
	if (!S_ISCHR(file->mode))
		return name_in_directory(sent->text_is == IS_FILE_NAME ? sent->text : "");
	if (major == 1 && minor < COUNT_OF(memory) && memory[minor])
		return strdup(memory[minor]);
	return strdup("/dev/");
}

static void take_stack(struct session *session, const struct bpf_stack *sent)
{
	struct open_window *open = find_or_add(session, sent->window);
	struct user_stack *stack = allocate(1, sizeof(*stack) + sent->size);

	stack->process = (pid_t)sent->process;
	stack->ns = sent->ns;
	stack->stands = sent->stands;
	stack->pc = sent->pc;
	stack->sp = sent->sp;
	stack->size = sent->size;
	memcpy(stack->registers, sent->registers, sizeof(stack->registers));
	memcpy(stack->bytes, sent->bytes, sent->size);
	images_read(stack->process, stack->ns);
	free(open->stack);
	open->stack = stack;
}

static void take(void *context, const struct bpf_call *sent)
{
	struct traced_call call = {
		.nr = sent->nr,
		.process = (pid_t)sent->process,
		.thread = (pid_t)sent->thread,
		.result = sent->result,
		.cpu_ns = NAN,
		.waited_ns = (float)sent->waited_ns,
		.file_id = sent->file.identity,
		.directory_id = sent->directory,
	};
	struct session *session = context;
	struct open_window *open;

	if (sent->nr == SENT_END) {
		open = find(session, sent->window);
		if (open) {
			windows_close(open->window);
			forget(session, open);
		}
		return;
	}
	if (sent->nr == SENT_STACK) {
		take_stack(session, (const void *)sent);
		return;
	}
	memcpy(call.args, sent->args, sizeof(call.args));
	if (sent->began) {
		session->timed++;
		call.wall_ns = (float)sent->wall_ns;
		call.between_ns = (float)sent->between_ns;
		call.cpu_ns = fmaxf(0, (float)sent->wall_ns - (float)sent->away_ns);
	}
	if (sent->text_is == IS_PATH)
		call.paths[0] = strdup(sent->text);
	call.file = name_of_file(sent);
	open = find_or_add(session, sent->window);
	note_sending(&session->sendings, &open->last, sent);
	call.stack = open->stack;
	open->stack = NULL;
	windows_add(session->windows, &open->window, &call);
	if (!open->window)
		forget(session, open);
}

static void receive(struct session *session)
{
	mappings_receive();
	bpf_receive(&bpf);
	bpf.state->stacks = session->target->stacks && !images_full();
	bpf.state->halvings = session->windows->halvings;
	if (session->windows->halvings >= TIMED_HALVINGS)
		bpf_detach_begins(&bpf);
}

static void close_window(void *node)
{
	struct open_window *open = node;

	windows_close(open->window);
	free(open->stack);
	free(open);
}

/* ---- what it took ---- */

static double ns(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

/* What children have used since BEFORE but for UNUSED, which the program did not. */
static void time_of_children(struct times *times, const struct rusage *before,
			     const struct rusage *unused)
{
	struct rusage after;

	getrusage(RUSAGE_CHILDREN, &after);
	times->user_ns = ns(after.ru_utime) - ns(before->ru_utime) - ns(unused->ru_utime);
	times->system_ns = ns(after.ru_stime) - ns(before->ru_stime) - ns(unused->ru_stime);
	times->page_faults = after.ru_minflt - before->ru_minflt - unused->ru_minflt;
}

/* The scheduler counts exactly; what was user time is sampled at ticks. */
static void time_of_threads(struct times *times, const struct bpf_spent *spent)
{
	double ticks = (double)(spent->user_ns + spent->system_ns);
	double user = ticks > 0 ? (double)spent->user_ns / ticks : 0;

	times->user_ns = user * (double)spent->cpu_ns;
	times->system_ns = (double)spent->cpu_ns - times->user_ns;
	times->page_faults = spent->page_faults;
}

static void take_counts(struct totals *totals, const struct bpf_count calls[])
{
	int nr;

	totals->calls = 0;
	for (nr = 0; nr <= CALL_OTHER; nr++) {
		totals->of[nr].calls = (long)calls[nr].calls;
		totals->of[nr].failed = (long)calls[nr].failed;
		totals->calls += (long)calls[nr].calls;
	}
}

/* The memory of a process is given back after its last time was taken. */
static double time_of_ends(const struct collected *collected, const struct counted *counted)
{
	const double spent = (double)counted->spent.cpu_ns;
	const double children = (double)counted->children.count;

	if (!collected->ended || !children)
		return 0;
	return fmax(0, collected->times.user_ns + collected->times.system_ns - spent) * children /
	       (children + 1);
}

static struct figure cost_of_tracing(const struct session *session, const struct counted *counted)
{
	const struct traced_events events = {
		.calls = (double)session->totals->calls,
		.sent = (double)counted->sent,
		.timed = (double)session->timed,
		.stacks = (double)counted->stacks,
		.faults = (double)counted->faults.seen,
		.threads = (double)counted->threads,
		.turns = (double)(counted->spent.waits + counted->spent.preemptions),
	};

	return cost_of_events(&session->cost, session->windows, &session->sendings, &events);
}

/* What was counted, with the times but for those of a program that has ended. */
static void take_all(struct session *session, const struct counted *counted)
{
	struct collected *collected = session->collected;

	take_counts(session->totals, counted->calls);
	collected->threads = (long)counted->threads;
	collected->in_sample = (long)(counted->sent + counted->lost);
	collected->lost = (long)counted->lost;
	collected->not_followed = (long)counted->not_followed;
	collected->uncounted = (long)counted->missed;
	collected->switches = (double)counted->spent.waits;
	collected->sees_faults = bpf_sees_faults(&bpf);
	collected->faults = (double)counted->faults.seen;
	collected->faults_in_rows = (double)counted->faults.in_rows;
	collected->faults_in_long_rows = (double)counted->faults.in_long_rows;
	collected->children = (double)counted->children.count;
	collected->children_cpu_ns =
		(double)counted->children.cpu_ns + time_of_ends(collected, counted);
	collected->empty_call = session->cost.empty_call;
	collected->empty_between = session->cost.empty_between;
	collected->tracing = cost_of_tracing(session, counted);
}

/* Of the time since the one before. */
static void report(struct session *session)
{
	struct collected *collected = session->collected;
	struct counted now, since;

	receive(session);
	count(&bpf, &now);
	since = now;
	count_since(&since, &session->before);
	collected->ns = collected->times.wall_ns = now_ns() - session->since;
	time_of_threads(&collected->times, &since.spent);
	take_all(session, &since);
	if (session->observer->report(session->observer->context))
		return;
	session->before = now;
	session->timed = 0;
	session->sendings = (struct sendings){ 0 };
	session->since += collected->ns;
	session->has_reported = true;
	bpf.state->halvings = 0;
	bpf_attach(&bpf);
}

/* ---- from its beginning to its end ---- */

static int follow(pid_t pid, bool held)
{
	bpf.state->process = (uint32_t)pid;
	bpf.state->held = held;
	return bpf_follow(&bpf);
}

static int follow_child(void *context, pid_t child)
{
	int error;

	(void)context;
	error = follow(child, true);
	images_read(child, 0);
	if (!error && !bpf.state->threads)
		error = -ESRCH;
	if (error)
		complain("trace: the program cannot be followed: %s", strerror(-error));
	return error;
}

/* 0 or -errno. */
static int follow_process(void *context, pid_t process)
{
	(void)context;
	images_read(process, 0);
	return follow(process, false);
}

static int follow_running(pid_t pid)
{
	const char *process = line_after(keep_text("/proc/%d/status", pid), "Tgid:");
	int error = -ESRCH;

	if (*process)
		error = visit_family((pid_t)strtol(process, NULL, 10), follow_process, NULL);
	if (!error && !bpf.state->threads) {
		complain("trace: process %d makes no calls: it has ended, or is a thread of the "
			 "kernel",
			 pid);
		return -ESRCH;
	}
	if (error)
		complain("trace: %s", why_not_traced(pid, -error));
	return error;
}

static int follow_all(const struct target *target)
{
	size_t i;
	int error = 0;

	bpf.state->cgroup = target->cgroup;
	if (target->cgroup)
		return bpf_follow(&bpf);
	for (i = 0; i < target->pid_count && !error; i++)
		error = follow_running(target->pids[i]);
	return error;
}

static void reap(struct session *session, int options)
{
	struct collected *collected = session->collected;
	int status;

	if (!session->root || collected->ended)
		return;
	if (waitpid(session->root, &status, options) != session->root)
		return;
	collected->ended = true;
	collected->status = exit_status_of(status);
}

static bool goes_on(const struct session *session)
{
	const char *cgroup = session->target->cgroup_path;

	if (session->collected->let_go)
		return false;
	return bpf.state->alive || (cgroup && !access(cgroup, F_OK));
}

static void take_signal(struct session *session, const siginfo_t *info)
{
	struct collected *collected = session->collected;

	if (info->si_signo == SIGCHLD)
		return;
	if (info->si_signo == SIGUSR1)
		report(session);
	else
		collected->let_go = !pass_on(collected, session->root, info);
}

/* Little to do, but on a busy machine the ring is full when this process is late. */
static void take_precedence(bool on)
{
	static int before;

	if (on)
		before = getpriority(PRIO_PROCESS, 0);
	if (setpriority(PRIO_PROCESS, 0, on ? FIRST : before))
		errno = 0; /* it is not permitted: calls may be lost, and are counted */
}

static void wait_for_end(struct session *session)
{
	const struct timespec interval = { .tv_nsec = READ_EVERY };
	struct collected *collected = session->collected;
	siginfo_t info;

	take_precedence(true);
	while (goes_on(session)) {
		if (sigtimedwait(blocked_signals(), &info, &interval) > 0)
			take_signal(session, &info);
		reap(session, WNOHANG);
		receive(session);
	}
	if (!collected->let_go)
		reap(session, 0);
	receive(session);
	take_precedence(false);
	tdestroy(session->open, close_window);
}

static int begin(struct session *session, int *failed)
{
	const struct target *target = session->target;
	int error;

	/* Where it is not permitted, what is mapped is read with the first stack of a process. */
	if (target->stacks)
		mappings_watch();
	error = bpf_attach(&bpf);
	if (error) {
		complain("trace: the tracepoints are not available: %s", strerror(-error));
		return error;
	}
	if (target->reports) {
		measure_tracing(&bpf, target->stacks, &session->cost);
		bpf_restart(&bpf);
	}
	bpf.take = take;
	bpf.context = session;
	bpf.state->stacks = target->stacks;
	start_timers(target);
	if (!target->argv)
		return follow_all(target);
	session->root = start_program(follow_child, NULL, failed);
	return session->root < 0 ? session->root : 0;
}

static void finish(struct session *session, const struct rusage *before)
{
	struct collected *collected = session->collected;
	struct counted counted;

	count(&bpf, &counted);
	count_since(&counted, &session->before);
	/* A child that reported has used time as well. */
	if (collected->ended && !session->has_reported)
		time_of_children(&collected->times, before, used_while_held());
	else
		time_of_threads(&collected->times, &counted.spent);
	if (!session->target->reports)
		measure_tracing(&bpf, session->target->stacks, &session->cost);
	collected->times.wall_ns = collected->ns;
	take_all(session, &counted);
}

int collect_with_bpf(const struct target *target, const struct observer *observer,
		     struct windows *windows, struct totals *totals, struct collected *collected)
{
	struct session session = { .target = target,
				   .observer = observer,
				   .windows = windows,
				   .totals = totals,
				   .collected = collected };
	struct rusage before;
	int error, failed = -1;

	*collected = (struct collected){ 0 };
	error = begin(&session, &failed);
	getrusage(RUSAGE_CHILDREN, &before);
	session.since = now_ns();
	if (!error)
		wait_for_end(&session);
	collected->ns = now_ns() - session.since;
	unblock_signals(collected);
	if (failed >= 0)
		error = check_start(target->argv, bpf.state->began, failed);
	if (!error)
		finish(&session, &before);
	mappings_end();
	bpf_unload(&bpf);
	return error;
}

// SPDX-License-Identifier: MIT
#include "collect.h"

#include <errno.h>
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
#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"
#include "common/record.h"
#include "measure/harness/clock.h"
#include "measure/harness/empty.h"
#include "measure/harness/process.h"
#include "object.h"

/* ns; the ring has room for ten times as many calls as are made in it. */
#define READ_EVERY 5000000

#ifndef PIPEFS_MAGIC
#define PIPEFS_MAGIC 0x50495045
#endif

#define NO_SAMPLE 63 /* halvings: no window is in it */

static struct bpf bpf;

struct session {
	const struct target *target;
	struct windows *windows;
	struct collected *collected;
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
		bpf.state->kinds[nr].descriptor = NO_ARGUMENT;
		if (is_transfer(nr) || (shape && shape->waits == WAITS_FOR_FILE))
			bpf.state->kinds[nr].descriptor = argument(shape, "d");
	}
	return why;
}

/* ---- the sample ---- */

struct open_window {
	uint64_t id;
	struct window *window;
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
	free(open);
}

/* The beginning of what /proc shows of a descriptor, as far as anyone asks for it. */
static char *name_of_file(const struct bpf_file *file)
{
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
		return strdup("/");
	if (major == 1 && minor < COUNT_OF(memory) && memory[minor])
		return strdup(memory[minor]);
	return strdup("/dev/");
}

static void take(void *context, const struct bpf_call *sent)
{
	struct traced_call call = { .nr = sent->nr, .result = sent->result };
	struct session *session = context;
	struct open_window *open;

	if (sent->nr < 0) {
		open = find(session, sent->window);
		if (open) {
			windows_close(open->window);
			forget(session, open);
		}
		return;
	}
	memcpy(call.args, sent->args, sizeof(call.args));
	if (sent->has_path)
		call.paths[0] = strdup(sent->path);
	call.file = name_of_file(&sent->file);
	open = find_or_add(session, sent->window);
	windows_add(session->windows, &open->window, &call);
	if (!open->window)
		forget(session, open);
}

static void receive(struct session *session)
{
	bpf_receive(&bpf);
	bpf.state->halvings = session->windows->halvings;
}

static void close_window(void *node)
{
	struct open_window *open = node;

	windows_close(open->window);
	free(open);
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
	int error = follow(child, true);

	(void)context;
	if (!error && !bpf.state->threads)
		error = -ESRCH;
	if (error)
		complain("trace: the program cannot be followed: %s", strerror(-error));
	return error;
}

static int follow_running(pid_t pid)
{
	const char *process = line_after(keep_text("/proc/%d/status", pid), "Tgid:");
	int error = *process ? follow((pid_t)strtol(process, NULL, 10), false) : -ESRCH;
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

static void wait_for_end(struct session *session, const sigset_t *signals)
{
	const struct timespec interval = { .tv_nsec = READ_EVERY };
	struct collected *collected = session->collected;
	siginfo_t info;

	while (bpf.state->alive && !collected->let_go) {
		if (sigtimedwait(signals, &info, &interval) > 0 && info.si_signo != SIGCHLD)
			collected->let_go = !pass_on(collected, session->root, &info);
		reap(session, WNOHANG);
		receive(session);
	}
	if (!collected->let_go)
		reap(session, 0);
	receive(session);
	tdestroy(session->open, close_window);
}

static int begin(struct session *session, const sigset_t *mask, struct rusage *unused, int *failed)
{
	const struct target *target = session->target;
	int error;

	bpf.take = take;
	bpf.context = session;
	error = bpf_attach(&bpf);
	if (error) {
		complain("trace: the tracepoints are not available: %s", strerror(-error));
		return error;
	}
	if (!target->argv)
		return follow_running(target->pid);
	session->root = start_program(target->argv, target->output, mask, follow_child, NULL,
				      unused, failed);
	return session->root < 0 ? session->root : 0;
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
static void time_of_threads(struct times *times)
{
	const volatile struct bpf_spent *spent = &bpf.state->spent;
	double ticks = (double)(spent->user_ns + spent->system_ns);
	double user = ticks > 0 ? (double)spent->user_ns / ticks : 0;

	times->user_ns = user * (double)spent->cpu_ns;
	times->system_ns = (double)spent->cpu_ns - times->user_ns;
	times->page_faults = spent->page_faults;
}

static void count_calls(struct totals *totals)
{
	int nr;

	for (nr = 0; nr <= CALL_OTHER; nr++) {
		const struct bpf_count count = bpf_count_of(&bpf, (uint32_t)nr);

		totals->of[nr].calls = (long)count.calls;
		totals->of[nr].failed = (long)count.failed;
		totals->calls += (long)count.calls;
	}
}

static void discard(void *context, const struct bpf_call *call)
{
	(void)context;
	(void)call;
}

/*
 * This process makes calls that are followed, none of them in the sample and all.  There, the cost
 * of most calls is between those of one without arguments and of one whose file is looked at.
 */
static void measure_cost(struct collected *collected)
{
	const int number = UNIMPLEMENTED < NUMBERS ? UNIMPLEMENTED : NUMBERS - 1;
	struct figure *sample = &collected->crossing_in_sample, looked_at;

	if (follow(getpid(), false))
		return;
	bpf.state->halvings = NO_SAMPLE;
	collected->crossing = measure_crossing();
	bpf.state->halvings = 0;
	*sample = measure_crossing();
	bpf.take = discard;
	bpf_receive(&bpf);
	bpf.state->kinds[number].descriptor = 0;
	looked_at = measure_crossing();
	sample->error = fabs(looked_at.value - sample->value) / 2;
	sample->value = (looked_at.value + sample->value) / 2;
}

static void finish(struct session *session, struct totals *totals)
{
	struct collected *collected = session->collected;

	count_calls(totals);
	collected->threads = (long)bpf.state->threads;
	collected->in_sample = (long)(bpf.state->sent + bpf.state->lost);
	collected->lost = (long)bpf.state->lost;
	collected->not_followed = (long)bpf.state->not_followed;
	collected->uncounted = (long)bpf_missed(&bpf);
	measure_cost(collected);
}

int collect_with_bpf(const struct target *target, struct windows *windows, struct totals *totals,
		     struct collected *collected)
{
	struct session session = { .target = target, .windows = windows, .collected = collected };
	struct rusage before, *unused = share(sizeof(*unused));
	sigset_t signals, mask;
	int error, failed = -1;

	*collected = (struct collected){ 0 };
	getrusage(RUSAGE_CHILDREN, &before);
	block_signals(&signals, &mask);
	error = begin(&session, &mask, unused, &failed);
	collected->ns = -now_ns();
	if (!error)
		wait_for_end(&session, &signals);
	collected->ns += now_ns();
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (failed >= 0)
		error = check_start(target->argv, bpf.state->began, failed);
	if (collected->ended)
		time_of_children(&collected->times, &before, unused);
	else if (!error && !bpf_tally(&bpf))
		time_of_threads(&collected->times);
	collected->times.wall_ns = collected->ns;
	if (!error)
		finish(&session, totals);
	unshare_memory(unused, sizeof(*unused));
	bpf_unload(&bpf);
	return error;
}

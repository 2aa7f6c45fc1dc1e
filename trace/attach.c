// SPDX-License-Identifier: MIT
#include "attach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/file.h"
#include "common/memory.h"
#include "common/messages.h"

#define FOLLOW                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
	 PTRACE_O_TRACEEXEC)

/* ---- why it could not be traced ---- */

static long tracer_of(pid_t pid)
{
	return strtol(line_after(keep_text("/proc/%d/status", pid), "TracerPid:"), NULL, 10);
}

static bool is_hidden(pid_t pid)
{
	const bool exists = !kill(pid, 0) || errno == EPERM;

	return exists && access(keep_text("/proc/%d", pid), F_OK);
}

const char *why_not_traced(pid_t pid, int error)
{
	const char *scope;
	long tracer;

	if (error == ESRCH && is_hidden(pid))
		return keep_text("process %d is not in /proc, which is not mounted or hides it",
				 pid);
	if (error == ESRCH)
		return keep_text("there is no process %d", pid);
	tracer = tracer_of(pid);
	if (tracer)
		return keep_text(
			"process %d is already traced by process %ld, and a process has one "
			"tracer",
			pid, tracer);
	if (error != EPERM)
		return keep_text("process %d cannot be traced: %s", pid, strerror(error));
	scope = line_after("/proc/sys/kernel/yama/ptrace_scope", "");
	if (*scope && *scope != '0')
		return keep_text(
			"process %d may not be traced: /proc/sys/kernel/yama/ptrace_scope is "
			"%s, so it takes CAP_SYS_PTRACE",
			pid, scope);
	return keep_text("process %d may not be traced: it belongs to another user, has more "
			 "privileges, or is a thread of the kernel, or a filter of system calls "
			 "forbids it",
			 pid);
}

/* ---- signals for this process ---- */

static struct {
	sigset_t blocked, before;
	timer_t reports;
	bool has_reports; /* at intervals */
} signals;

void block_signals(const struct target *target)
{
	sigemptyset(&signals.blocked);
	sigaddset(&signals.blocked, SIGCHLD);
	sigaddset(&signals.blocked, SIGINT);
	sigaddset(&signals.blocked, SIGTERM);
	sigaddset(&signals.blocked, SIGALRM);
	if (target->reports)
		sigaddset(&signals.blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals.blocked, &signals.before);
	signal(SIGCHLD, SIG_DFL);
}

const sigset_t *blocked_signals(void)
{
	return &signals.blocked;
}

bool is_interrupted(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM);
}

void start_timers(const struct target *target)
{
	const struct itimerspec interval = { { target->interval, 0 }, { target->interval, 0 } };
	struct sigevent report = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };

	alarm((unsigned int)target->seconds);
	if (!target->interval)
		return;
	signals.has_reports = !timer_create(CLOCK_MONOTONIC, &report, &signals.reports);
	if (signals.has_reports)
		timer_settime(signals.reports, 0, &interval, NULL);
}

/* Taken rather than ignored: the untraced run would inherit that. */
static void stop_timers(void)
{
	const struct timespec no_time = { 0 };
	sigset_t timers;

	alarm(0);
	if (signals.has_reports)
		timer_delete(signals.reports);
	sigemptyset(&timers);
	sigaddset(&timers, SIGALRM);
	sigaddset(&timers, SIGUSR1);
	while (sigtimedwait(&timers, NULL, &no_time) > 0)
		;
}

void unblock_signals(const struct collected *collected)
{
	stop_timers();
	if (collected->interrupted) {
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
	}
	sigprocmask(SIG_SETMASK, &signals.before, NULL);
}

/* ---- a new program ---- */

static struct {
	pid_t id;	     /* 0: none is held */
	int go[2];	     /* one byte: the tracer is there */
	int failed[2];	     /* the error of exec, or nothing */
	struct rusage *used; /* before exec; shared */
} held;

static _Noreturn void run_program(char *const argv[], int output)
{
	char byte;
	int error;

	close(held.go[1]);
	if (read(held.go[0], &byte, 1) != 1)
		_exit(EXIT_USAGE);
	sigprocmask(SIG_SETMASK, &signals.before, NULL);
	if (output != STDOUT_FILENO)
		dup2(output, STDOUT_FILENO);
	getrusage(RUSAGE_SELF, held.used);
	execvp(argv[0], argv);
	error = errno;
	if (write(held.failed[1], &error, sizeof(error)) < 0)
		_exit(EXIT_USAGE + 1);
	_exit(EXIT_USAGE);
}

static int open_pipes(void)
{
	if (pipe2(held.go, O_CLOEXEC))
		return -errno;
	return pipe2(held.failed, O_CLOEXEC) ? -errno : 0;
}

int hold_program(char *const argv[], int output)
{
	int error;

	held.used = share(sizeof(*held.used));
	fflush(NULL);
	error = open_pipes();
	if (!error) {
		held.id = fork();
		error = held.id < 0 ? -errno : 0;
	}
	if (error) {
		complain("trace: no process for the program: %s", strerror(-error));
		held.id = 0;
		return error;
	}
	if (!held.id)
		run_program(argv, output);
	close(held.go[0]);
	close(held.failed[1]);
	return 0;
}

void drop_program(void)
{
	if (!held.id)
		return;
	close(held.go[1]);
	waitpid(held.id, NULL, 0);
	close(held.failed[0]);
	held.id = 0;
}

const struct rusage *used_while_held(void)
{
	return held.used;
}

int check_start(char *const argv[], bool began, int failed)
{
	int error = 0;

	if (!began && read(failed, &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(failed);
	if (error)
		complain("trace: %s: %s", argv[0], strerror(error));
	return -error;
}

/* The program stops at the end of its execve(), and reports that only to waitpid(). */
int trace_child(void *threads, pid_t child)
{
	int error;

	if (ptrace(PTRACE_SEIZE, child, 0, FOLLOW | PTRACE_O_EXITKILL)) {
		error = errno;
		complain("trace: %s", why_not_traced(child, error));
		return -error;
	}
	threads_add(threads, child);
	return 0;
}

pid_t start_program(int (*attach)(void *context, pid_t child), void *context, int *failed)
{
	const pid_t child = held.id;
	int error = attach(context, child);

	if (!error && write(held.go[1], "", 1) != 1)
		error = -errno;
	if (error) {
		drop_program();
		return error;
	}
	close(held.go[1]);
	*failed = held.failed[0];
	held.id = 0;
	return child;
}

bool pass_on(struct collected *collected, pid_t root, const siginfo_t *info)
{
	const bool first =
		root && !collected->ended && !collected->interrupted && info->si_signo != SIGALRM;

	collected->interrupted = info->si_signo;
	if (first && info->si_code != SI_KERNEL)
		kill(root, info->si_signo);
	return first;
}

/* ---- a running one ---- */

/* PTRACE_INTERRUPT stops the thread, so that PTRACE_SYSCALL can let it go on. */
static int attach_thread(pid_t id, struct threads *threads)
{
	if (ptrace(PTRACE_SEIZE, id, 0, FOLLOW))
		return -errno;
	threads_add(threads, id);
	ptrace(PTRACE_INTERRUPT, id, 0, 0);
	return 0;
}

/* How many threads are new, or -errno.  One that ends meanwhile is none. */
static int attach_to_new(DIR *tasks, struct threads *threads)
{
	const struct dirent *entry;
	int found = 0, error;

	rewinddir(tasks);
	while ((entry = readdir(tasks))) {
		pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);

		if (id <= 0 || threads_find(threads, id))
			continue;
		error = attach_thread(id, threads);
		if (error && error != -ESRCH)
			return error;
		found += !error;
	}
	return found;
}

/* 0, or -errno: -ESRCH where there is no such process. */
static int attach_process(void *context, pid_t pid)
{
	struct threads *threads = context;
	const size_t before = threads->count;
	char path[64];
	DIR *tasks;
	int found;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? -ESRCH : -errno;
	/* Threads that are not traced yet may start others. */
	do
		found = attach_to_new(tasks, threads);
	while (found > 0);
	closedir(tasks);
	if (found < 0)
		return found;
	/* It may be a child of one that was attached to before. */
	return threads->count > before || threads_find(threads, pid) ? 0 : -ESRCH;
}

int attach_to(const struct target *target, struct threads *threads)
{
	size_t i;
	int error;

	for (i = 0; i < target->pid_count; i++) {
		error = visit_family(target->pids[i], attach_process, threads);
		if (error) {
			complain("trace: %s", why_not_traced(target->pids[i], -error));
			return error;
		}
	}
	return 0;
}

/* ---- families ---- */

/* The children that one thread has started. */
static void visit_children_of(pid_t pid, const char *thread,
			      int (*visit)(void *context, pid_t process), void *context)
{
	char *list = line_after(keep_text("/proc/%d/task/%s/children", pid, thread), "");
	char *word, *rest = NULL;

	for (word = strtok_r(list, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		const pid_t child = (pid_t)strtol(word, NULL, 10);
		const int error = visit_family(child, visit, context);

		if (error && error != -ESRCH)
			complain("trace: a child is left out: %s", why_not_traced(child, -error));
	}
}

int visit_family(pid_t pid, int (*visit)(void *context, pid_t process), void *context)
{
	const struct dirent *entry;
	int error = visit(context, pid);
	DIR *tasks;

	if (error)
		return error;
	tasks = opendir(keep_text("/proc/%d/task", pid));
	while (tasks && (entry = readdir(tasks)))
		if (*entry->d_name != '.')
			visit_children_of(pid, entry->d_name, visit, context);
	if (tasks)
		closedir(tasks);
	return 0;
}

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

/* ---- a new program ---- */

struct start {
	sigset_t mask; /* of the program */
	int go[2];     /* one byte: the tracer is there */
	int failed[2]; /* the error of exec, or nothing */
};

static _Noreturn void run_program(char *const argv[], int output, const struct start *start,
				  struct rusage *used)
{
	char byte;
	int error;

	sigprocmask(SIG_SETMASK, &start->mask, NULL);
	close(start->go[1]);
	if (read(start->go[0], &byte, 1) != 1)
		_exit(EXIT_USAGE);
	if (output != STDOUT_FILENO)
		dup2(output, STDOUT_FILENO);
	if (used)
		getrusage(RUSAGE_SELF, used);
	execvp(argv[0], argv);
	error = errno;
	if (write(start->failed[1], &error, sizeof(error)) < 0)
		_exit(EXIT_USAGE + 1);
	_exit(EXIT_USAGE);
}

static int open_pipes(struct start *start)
{
	if (pipe2(start->go, O_CLOEXEC))
		return -errno;
	return pipe2(start->failed, O_CLOEXEC) ? -errno : 0;
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

pid_t start_program(char *const argv[], int output, const sigset_t *mask,
		    int (*attach)(void *context, pid_t child), void *context, struct rusage *used,
		    int *failed)
{
	struct start start = { .mask = *mask };
	int error;
	pid_t child;

	error = open_pipes(&start);
	fflush(NULL);
	child = error ? error : fork();
	if (!child)
		run_program(argv, output, &start, used);
	if (child < 0) {
		complain("trace: no process for the program: %s", strerror(errno));
		return child;
	}
	close(start.go[0]);
	close(start.failed[1]);
	error = attach(context, child);
	if (!error && write(start.go[1], "", 1) != 1)
		error = -errno;
	close(start.go[1]);
	if (error) {
		waitpid(child, NULL, 0);
		close(start.failed[0]);
		return error;
	}
	*failed = start.failed[0];
	return child;
}

/* ---- signals for this process ---- */

void block_signals(sigset_t *signals, sigset_t *before)
{
	sigemptyset(signals);
	sigaddset(signals, SIGCHLD);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigprocmask(SIG_BLOCK, signals, before);
	signal(SIGCHLD, SIG_DFL);
}

bool pass_on(struct collected *collected, pid_t root, const siginfo_t *info)
{
	const bool first = root && !collected->ended && !collected->interrupted;

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

int attach_to(pid_t pid, struct threads *threads)
{
	char path[64];
	DIR *tasks;
	int found;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks) {
		complain("trace: %s", why_not_traced(pid, errno == ENOENT ? ESRCH : errno));
		return -ESRCH;
	}
	/* Threads that are not traced yet may start others. */
	do
		found = attach_to_new(tasks, threads);
	while (found > 0);
	closedir(tasks);
	if (found < 0 || !threads->count) {
		complain("trace: %s", why_not_traced(pid, found < 0 ? -found : ESRCH));
		return found < 0 ? found : -ESRCH;
	}
	return 0;
}

// SPDX-License-Identifier: MIT
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "common/messages.h"
#include "interrupt.h"

extern char **environ;

static int spawn(const struct process *process, pid_t *child)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t caught;
	int error;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, process->input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, process->output, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	sigemptyset(&caught);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGTERM);
	posix_spawnattr_setsigdefault(&attributes, &caught);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	error = posix_spawnp(child, process->argv[0], &files, &attributes, process->argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	return -error;
}

int exit_status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return exit_status_of(status);
}

struct outcome process_run(const struct process *process)
{
	struct outcome outcome;
	double start;
	pid_t child;

	if (process->engine)
		setenv("FERRY_ENGINE", process->engine, 1);
	lseek(process->input, process->from, SEEK_SET);
	start = clock_now();
	outcome.status = spawn(process, &child);
	if (!outcome.status)
		outcome.status = wait_for(child);
	outcome.ns = clock_now() - start;
	return outcome;
}

/* ---- children that measure ---- */

static _Noreturn void work_and_end(pid_t parent, int (*work)(void *context), void *context)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* One comes from the terminal, and one more from the parent. */
	interrupt_catch_all();
	/* A filter of system calls may refuse getppid(). */
	_exit(getppid() == parent || getppid() < 0 ? work(context) : 0);
}

static void wake(int number)
{
	(void)number;
}

/* Signals arrive only within sigsuspend(), so none is missed between a look and a sleep. */
int wait_for_child(pid_t child, int number)
{
	struct sigaction waking = { .sa_handler = wake }, former;
	sigset_t signals, before, meanwhile;
	int status = 0, sent = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &before);
	sigaction(SIGCHLD, &waking, &former);
	meanwhile = before;
	sigdelset(&meanwhile, SIGCHLD);
	while (!waitpid(child, &status, WNOHANG)) {
		if (interrupted() && !sent)
			kill(child, sent = number ? number : interrupted());
		else
			sigsuspend(&meanwhile);
	}
	sigaction(SIGCHLD, &former, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

int run_in_child(int (*work)(void *context), void *context)
{
	pid_t parent = getpid(), child;
	int status;

	fflush(NULL);
	child = fork();
	if (!child)
		work_and_end(parent, work, context);
	if (child < 0) {
		complain("bench: no process to measure in: %s", strerror(errno));
		return EXIT_FOUND;
	}
	status = wait_for_child(child, 0);
	if (interrupted() || !status)
		return 0;
	if (WIFSIGNALED(status))
		complain("bench: what was measured ended its process: %s",
			 strsignal(WTERMSIG(status)));
	return EXIT_FOUND;
}

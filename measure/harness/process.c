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
	const int given[] = { process->input, process->output, -1 };
	posix_spawn_file_actions_t files;
	int error, stream;

	posix_spawn_file_actions_init(&files);
	for (stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
		if (given[stream] < 0)
			posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
		else
			posix_spawn_file_actions_adddup2(&files, given[stream], stream);
	}
	/* Signals that are caught here have their default action there. */
	error = posix_spawnp(child, process->argv[0], &files, NULL, process->argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return -error;
}

int exit_status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct outcome process_run(const struct process *process)
{
	struct outcome outcome;
	double start;
	pid_t child;
	int status;

	if (process->engine)
		setenv("FERRY_ENGINE", process->engine, 1);
	lseek(process->input, process->from, SEEK_SET);
	start = clock_now();
	outcome.status = spawn(process, &child);
	if (!outcome.status)
		outcome.status = TEMP_FAILURE_RETRY(waitpid(child, &status, 0)) < 0 ?
					 -errno :
					 exit_status_of(status);
	outcome.ns = clock_now() - start;
	return outcome;
}

/* ---- children that measure ---- */

static _Noreturn void work_and_end(pid_t parent, int (*work)(void *context), void *context)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* One comes from the terminal, and one more from the parent. */
	interrupt_catch(0);
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

bool child_has_ended(pid_t child)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

int run_in_child(int (*work)(void *context), void *context)
{
	pid_t parent = getpid(), child;
	int status;

	fflush(NULL);
	child = fork();
	if (!child)
		work_and_end(parent, work, context);
	if (child < 0)
		return failed("bench: no process to measure in: %s", strerror(errno));
	status = wait_for_child(child, 0);
	if (interrupted() || !status)
		return 0;
	if (WIFSIGNALED(status))
		complain("bench: the measured process died: %s", strsignal(WTERMSIG(status)));
	return EXIT_FOUND;
}

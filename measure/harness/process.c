// SPDX-License-Identifier: MIT
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

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

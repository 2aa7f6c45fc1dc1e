// SPDX-License-Identifier: MIT
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/messages.h"
#include "interrupt.h"

static _Noreturn void work_and_end(pid_t parent, int (*work)(void *context), void *context)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* From the terminal, and once more from the parent. */
	interrupt_catch_all();
	/* A filter of system calls may not say who the parent is. */
	_exit(getppid() == parent || getppid() < 0 ? work(context) : 0);
}

/* A signal that came to this process alone is passed on, once. */
static int wait_for(pid_t child)
{
	int passed_on = 0;
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return 0;
		if (interrupted() && !passed_on)
			kill(child, passed_on = interrupted());
	}
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
	status = wait_for(child);
	if (interrupted() || !status)
		return 0;
	if (WIFSIGNALED(status))
		complain("bench: what was measured ended its process: %s",
			 strsignal(WTERMSIG(status)));
	return EXIT_FOUND;
}

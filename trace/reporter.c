// SPDX-License-Identifier: MIT
#include "reporter.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t last;

/* A tracer that waits for any child may have reaped it already. */
pid_t reporter_fork(void)
{
	pid_t child;

	if (last && !waitpid(last, NULL, WNOHANG))
		return -EAGAIN;
	fflush(NULL);
	child = fork();
	if (child < 0)
		return -errno;
	/* The tracer takes precedence; the program is to run while this one analyses. */
	if (!child && getpriority(PRIO_PROCESS, 0) < 0)
		setpriority(PRIO_PROCESS, 0, 0);
	last = child;
	return child;
}

void reporter_wait(void)
{
	if (last)
		waitpid(last, NULL, 0);
	last = 0;
}

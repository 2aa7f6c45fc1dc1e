// SPDX-License-Identifier: MIT
/* Seccomp and ptrace, as a thread can see them of itself. */
#include "watched.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <ferry/rawcall.h>

#define TRACER_CHECK_NS 50000000L

static bool has_seccomp(void)
{
	return ferry_rawcall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0;
}

/* Without /proc there is no telling: then the answer is yes. */
static bool has_tracer(void)
{
	static const char key[] = "\nTracerPid:\t";
	char status[1024]; /* the line is among the first ten of proc(5)'s status */
	const char *value;
	long length;
	long fd = ferry_rawcall(SYS_openat, AT_FDCWD, (long)"/proc/thread-self/status",
				O_RDONLY | O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		return true;
	length = ferry_rawcall(SYS_read, fd, (long)status, sizeof(status) - 1, 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (length <= 0)
		return true;
	status[length] = '\0';
	value = strstr(status, key);
	return !value || value[sizeof(key) - 1] != '0';
}

bool thread_is_watched(struct tracer_check *last)
{
	struct timespec now;
	long tick;

	if (has_seccomp())
		return true;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	tick = 1 + now.tv_nsec / TRACER_CHECK_NS;
	if (last->second != now.tv_sec || last->tick != tick) {
		last->second = now.tv_sec;
		last->tick = tick;
		last->traced = has_tracer();
	}
	return last->traced;
}

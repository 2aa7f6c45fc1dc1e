// SPDX-License-Identifier: MIT
/* How a thread finds out that it has a seccomp filter or a tracer. */
#include "watched.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include <ferry/rawcall.h>

#include "unseen.h"

#define TRACER_CHECK_NS 50000000L

/* A call takes a tenth of this.  A tracer stops it twice, which takes at least four context
 * switches. */
#define SLOW_CALL_NS 2000L

static bool has_seccomp(void)
{
	return ferry_rawcall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0;
}

/* Reads the start of the thread's status into STATUS; returns its length, or -errno. */
static long read_status(char *status, size_t size)
{
	long length;
	long fd = ferry_rawcall(SYS_openat, AT_FDCWD, (long)"/proc/thread-self/status",
				O_RDONLY | O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		return fd;
	length = ferry_rawcall(SYS_read, fd, (long)status, (long)size, 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	return length;
}

static enum watcher find_tracer(void)
{
	static const char key[] = "\nTracerPid:\t";
	char status[1024]; /* the line is among the first ten of proc(5)'s status */
	const char *value;
	unsigned long signals;
	long length;

	if (!ferry__unseen_begin(&signals))
		return WATCHER_UNCHECKED;
	length = read_status(status, sizeof(status) - 1);
	ferry__unseen_end(signals);
	if (length <= 0)
		return WATCHER_UNKNOWN;
	status[length] = '\0';
	value = strstr(status, key);
	if (!value)
		return WATCHER_UNKNOWN;
	return value[sizeof(key) - 1] == '0' ? WATCHER_NONE : WATCHER_TRACER;
}

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

enum watcher ferry__thread_watcher(struct tracer_check *last)
{
	long start = now_ns();
	bool seccomp = has_seccomp();
	long end = now_ns();

	if (seccomp)
		return WATCHER_FILTER;
	if (!last->when || end - last->when > TRACER_CHECK_NS || end - start > SLOW_CALL_NS) {
		last->found = find_tracer();
		last->when = last->found == WATCHER_UNCHECKED ? 0 : end;
	}
	return last->found;
}

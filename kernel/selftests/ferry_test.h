/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the tests of ferry's system calls. */
#ifndef FERRY_TEST_H
#define FERRY_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/ferry.h>

#include "../kselftest_harness.h"

#include "batch_call.h"

/* The initial value of rets[].  No call here returns it. */
#define UNTOUCHED 0x5e5e5e5e5e5e5e5eL

/* Arguments of a slot have to be long, and many are pointers. */
#define P(pointer) ((long)(pointer))

#define SLOT(number, ...)						\
	((struct ferry_slot){ .nr = (number), .argc = FERRY_MAX_ARGS,	\
			      .arg = { __VA_ARGS__ } })

static inline long batch(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	return raw_batch(rets, calls, ncall, 0, sizeof(*calls));
}

/*
 * Waits as long as CONDITION holds, which other threads end.  One that only
 * yields keeps others out: there may be fewer CPUs than threads, and in
 * user-mode Linux the threads of a process take turns, in no fair order.
 */
#define wait_while(condition)						\
	do {								\
		int looks_;						\
									\
		for (looks_ = 0; condition; looks_++) {			\
			if (looks_ < 100)				\
				sched_yield();				\
			else						\
				usleep(100);				\
		}							\
	} while (0)

/* The state of a process or thread in /proc/TID/stat (proc(5)), 0 if it is no more. */
static inline char state_of(pid_t tid)
{
	char path[64], line[256] = "", *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, line, sizeof(line) - 1) < 0)
		line[0] = 0;
	close(fd);
	end = strrchr(line, ')');
	return end ? end[2] : 0;
}

/* Waits until PID sleeps.  Returns false if it ends instead, or within ten seconds does neither. */
static inline bool falls_asleep(pid_t pid)
{
	char state;
	int i;

	for (i = 0; i < 10000; i++) {
		state = state_of(pid);
		if (state == 'S')
			return true;
		if (!state || state == 'Z')
			return false;
		usleep(1000);
	}
	return false;
}

/* The raw result of getpid(), a long. */
#define THIS_PROCESS ((long)syscall(__NR_getpid))

#endif /* FERRY_TEST_H */

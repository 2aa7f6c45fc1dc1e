/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the tests of system calls that make others. */
#ifndef SUBCALL_TEST_H
#define SUBCALL_TEST_H

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/subcall.h>

#include "../kselftest_harness.h"

#include "batch_call.h"

/* The initial value of rets[].  No call here returns it. */
#define UNTOUCHED 0x5e5e5e5e5e5e5e5eL

/* Arguments of a slot have to be long, and many are pointers. */
#define P(pointer) ((long)(pointer))

#define SLOT(number, ...)						\
	((struct batch_slot){ .nr = (number), .argc = BATCH_MAX_ARGS,	\
			      .arg = { __VA_ARGS__ } })

static inline long batch(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	struct batch_args args = batch_args(rets, calls, ncall);

	return raw_batch(&args, sizeof(args));
}

/* The state of a process or thread in /proc/TID/stat (proc(5)), 0 if it is no more. */
static inline char state_of(pid_t tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

/* Waits until PID sleeps.  Returns false if it ends instead, or within ten seconds does neither. */
static inline bool falls_asleep(pid_t pid)
{
	char state = 'R';
	int i;

	for (i = 0; i < 10000 && state && state != 'S' && state != 'Z'; i++) {
		usleep(1000);
		state = state_of(pid);
	}
	return state == 'S';
}

/* The raw result of getpid(), a long. */
#define THIS_PROCESS ((long)syscall(__NR_getpid))

#endif /* SUBCALL_TEST_H */

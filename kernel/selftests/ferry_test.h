/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the tests of ferry's system calls: raw calls, slots, skipping.
 */
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
#include <linux/ferry_blocked.h>

#include "../kselftest_harness.h"

/* The initial value of rets[].  No call here returns it. */
#define UNTOUCHED 0x5e5e5e5e5e5e5e5eL

/* A mask of one signal as the kernel takes it, and its size. */
#define MASK_OF(sig) (1UL << ((sig) - 1))
#define MASK_SIZE 8

/* Arguments of a slot have to be long, and many are pointers. */
#define P(pointer) ((long)(pointer))

#define SLOT(number, ...)						\
	((struct ferry_slot){ .nr = (number), .argc = FERRY_MAX_ARGS,	\
			      .arg = { __VA_ARGS__ } })
#define WORD_COPY(to, from) SLOT(FERRY_NR_WDCPY, P(to), P(from))

/* A system call.  Afterwards ARG holds the argument registers as the kernel left them. */
static inline long raw_call(long nr, long arg[FERRY_MAX_ARGS])
{
	register long r10 asm("r10") = arg[3];
	register long r8 asm("r8") = arg[4];
	register long r9 asm("r9") = arg[5];
	long result;

	asm volatile("syscall"
		     : "=a" (result), "+D" (arg[0]), "+S" (arg[1]), "+d" (arg[2]),
		       "+r" (r10), "+r" (r8), "+r" (r9)
		     : "0" (nr)
		     : "rcx", "r11", "memory");
	arg[3] = r10;
	arg[4] = r8;
	arg[5] = r9;
	return result;
}

static inline long raw_batch(long rets[], struct ferry_slot calls[], unsigned long ncall,
			     long flags, long size)
{
	long arg[FERRY_MAX_ARGS] = { P(rets), P(calls), ncall, flags, size };

	return raw_call(FERRY_NR_BATCH, arg);
}

static inline long batch(long rets[], struct ferry_slot calls[], unsigned long ncall)
{
	return raw_batch(rets, calls, ncall, 0, sizeof(*calls));
}

/* The answer to a batch that user space has to continue at slot I. */
static inline long refused_at(long i)
{
	return FERRY_BATCH_PARTIAL | FERRY_BATCH_RESUME | i << FERRY_RESUME_SHIFT;
}

/* The same as batch(), and makes the calls that the kernel leaves to user space. */
static inline long recovering_batch(long rets[], struct ferry_slot calls[], unsigned long ncall)
{
	long answer = batch(rets, calls, ncall);

	while (answer >= FERRY_BATCH_PARTIAL) {
		long arg[FERRY_MAX_ARGS], i = FERRY_RESUME_INDEX(answer);
		long nr = answer & FERRY_BATCH_RESTART ? __NR_restart_syscall : calls[i].nr;

		memcpy(arg, calls[i].arg, sizeof(arg));
		rets[i] = answer & FERRY_BATCH_EINTR ? -EINTR : raw_call(nr, arg);
		if (++i == (long)ncall)
			return i - 1;
		answer = raw_batch(rets, calls, ncall, refused_at(i) & ~FERRY_BATCH_PARTIAL,
				   sizeof(*calls));
	}
	return answer;
}

static inline bool have_batch(void)
{
	return raw_batch(NULL, NULL, 0, FERRY_BATCH_QUERY, 0) != -ENOSYS;
}

static inline struct ferry_slot jumping(struct ferry_slot slot, short fail, short zero, short pos)
{
	slot.jump_fail = fail;
	slot.jump_zero = zero;
	slot.jump_pos = pos;
	return slot;
}

/* Argument ARG of SLOT becomes the result D slots earlier. */
static inline struct ferry_slot forwarding(struct ferry_slot slot, int arg, unsigned char d)
{
	slot.argc |= FERRY_ARGC_FORWARD;
	slot.from[arg] = d;
	return slot;
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

#define NO_BATCH "no batch(): is CONFIG_FERRY_BATCH set?"

#endif /* FERRY_TEST_H */

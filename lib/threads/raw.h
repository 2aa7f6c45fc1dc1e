/* SPDX-License-Identifier: MIT */
/* System calls that leave errno and libc alone, futexes, and the clock. */
#ifndef THREADS_RAW_H
#define THREADS_RAW_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include <ferry/rawcall.h>

#define NS_PER_S 1000000000L
#define MOST_SECONDS 5000000000L /* longer times are cut, so that sums fit in 64 bits */

static inline long raw6(long number, long a, long b, long c, long d, long e, long f)
{
	return ferry_rawcall(number, a, b, c, d, e, f);
}

static inline long raw3(long number, long a, long b, long c)
{
	return raw6(number, a, b, c, 0, 0, 0);
}

/* A kernel's result as libc returns it. */
static inline long as_libc(long result)
{
	if (result >= 0 || result <= -4096)
		return result;
	errno = (int)-result;
	return -1;
}

/* Without waiting. */
static inline long poll_now(struct pollfd *polls, nfds_t count)
{
#ifdef SYS_poll
	return raw3(SYS_poll, (long)polls, (long)count, 0);
#else
	struct timespec none = { 0 };

	return raw6(SYS_ppoll, (long)polls, (long)count, (long)&none, 0, 0, 0);
#endif
}

/* Reads the beginning of a file as text.  Returns its length or -errno. */
static inline long read_text(const char *path, char *text, size_t size)
{
	const int fd = (int)raw6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long length;

	if (fd < 0)
		return fd;
	length = raw3(SYS_read, fd, (long)text, (long)size - 1);
	raw3(SYS_close, fd, 0, 0);
	text[length > 0 ? length : 0] = '\0';
	return length;
}

/* DEADLINE: by CLOCK_MONOTONIC, in ns; negative: none. */
static inline long futex_wait(int *word, int value, int64_t deadline)
{
	struct timespec until = { deadline / NS_PER_S, deadline % NS_PER_S };

	return raw6(SYS_futex, (long)word, FUTEX_WAIT_BITSET_PRIVATE, value,
		    deadline < 0 ? 0 : (long)&until, 0, FUTEX_BITSET_MATCH_ANY);
}

static inline long futex_wake(int *word, int count)
{
	return raw3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, count);
}

/* A time before 1970 is one that has passed. */
static inline int64_t ns_of(const struct timespec *time)
{
	if (time->tv_sec < 0)
		return -1;
	if (time->tv_sec > MOST_SECONDS)
		return MOST_SECONDS * NS_PER_S;
	return time->tv_sec * NS_PER_S + time->tv_nsec;
}

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return ns_of(&now);
}

static inline int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The CPU time of a kernel thread of this process: the kernel's encoding of its clock. */
static inline int64_t cpu_ns(int tid)
{
	struct timespec time = { 0 };

	raw3(SYS_clock_gettime, (long)((~(unsigned int)tid << 3) | 6), (long)&time, 0);
	return ns_of(&time);
}

#endif /* THREADS_RAW_H */

/* SPDX-License-Identifier: MIT */
/*
 * flexsc: system calls that are posted and run by another thread of the process, the
 * runner, while the caller goes on; and user-level threads that make the waiting worth
 * something.  libferry_flexsc(3) and doc/flexsc.md tell the whole story.
 *
 * Functions that can fail return -errno, and so do calls.  Nothing here touches errno,
 * but for that of user-level threads: they share their kernel thread's.
 */
#ifndef FERRY_FLEXSC_H
#define FERRY_FLEXSC_H

#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <ferry.h>
#include <linux/ferry_flexsc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- runners ---- */

#define FERRY_FLEXSC_MAX_RUNNERS 64

/** spin_ns of options: a runner without work sleeps at once. */
#define FERRY_NO_SPIN (-1L)

/* Of ferry_flexsc_start(); all zeros are the defaults. */
struct ferry_flexsc_options {
	unsigned int runners; /* 1 to FERRY_FLEXSC_MAX_RUNNERS; default 1 */
	unsigned int entries; /* of each: a power of two, 64 to 4096; default 128 */

	/* cpus[i] is the CPU of runner i, or -1: any.  Default, NULL: CPUs that the caller
	 * may use, not the one it is on, on other cores before other threads of its core. */
	const int *cpus;

	/* How long a runner, or a thread that waits, looks for work before it sleeps, at most:
	 * ns, or FERRY_NO_SPIN.  Default 50000; with one CPU to use, FERRY_NO_SPIN. */
	long spin_ns;

	unsigned int flags; /* 0 or more of those below */
};

#define FERRY_FLEXSC_USER 1U  /* runners stay in user space even if the kernel has flexsc */
#define FERRY_FLEXSC_TIMED 2U /* see ferry_flexsc_times() */

struct ferry_flexsc;

/**
 * Where runners of this thread would stay: "syscall" or "device", which are in the kernel, or
 * "user".  NULL if ferry_flexsc_start() would fail for $FERRY_FLEXSC_RUNNER.  *WHY is a constant
 * sentence.
 */
const char *ferry_flexsc_place(const char **why);

/**
 * Starts the runners.  *FLEXSC stays valid until ferry_flexsc_stop(); any number may be
 * there at a time.  OPTIONS may be NULL.  Returns 0, -EINVAL for an option out of its
 * range, -ENOMEM, -EAGAIN when no thread can be started, or what sched_setaffinity(2)
 * says of a CPU.  $FERRY_FLEXSC_RUNNER may say where runners stay: "syscall", "device" or
 * "user"; -EINVAL for another word, or -errno where that is not there.
 *
 * Runners have all signals blocked but SIGPIPE, SIGXFSZ and those that a fault raises.
 * After a fork the child has no runners: calls posted there are made at once by the poster,
 * those under way end with -ECANCELED there, and ferry_flexsc_stop() frees the memory.
 */
int ferry_flexsc_start(struct ferry_flexsc **flexsc, const struct ferry_flexsc_options *options);

/**
 * Ends the runners, waiting for the calls that they are making, and frees FLEXSC; NULL is fine.
 * Calls posted but not begun are dropped.  No other thread may use FLEXSC now or later.
 * Returns 0, or -EBUSY, with nothing done, while user-level threads use it.
 */
int ferry_flexsc_stop(struct ferry_flexsc *flexsc);

/** 1 when the kernel runs posted calls, 0 when a thread in user space does. */
int ferry_flexsc_in_kernel(const struct ferry_flexsc *flexsc);

/** The number of runners, without those that stand in for one whose call blocks. */
unsigned int ferry_flexsc_runners(const struct ferry_flexsc *flexsc);

/** The CPU time that all runners have used so far, ns. */
long ferry_flexsc_cpu_ns(const struct ferry_flexsc *flexsc);

/* ---- single calls, from any thread ---- */

/*
 * Any thread may post, and any one thread may poll or wait for a call.  A call is made
 * as soon as a runner gets to it, in no particular order with others; memory that its
 * arguments point to stays the caller's and valid until it has been collected.
 *
 * Calls that belong to the calling thread (see ferry_direct_reason()) and those that
 * no batch makes are never given to a runner: the first are made by the poster
 * at once, the others fail with -ENOSYS.
 */

/**
 * Posts call NR with args[0 .. argc - 1], copied; ARGS may be NULL when ARGC is 0.  Returns
 * a ticket to poll or wait with, which is not negative, -EINVAL for an NR outside a short's
 * range or ARGC over 6, or -EAGAIN while all entries are in use.
 */
long ferry_flexsc_post(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc);

/**
 * Posts a batch: its call's result is what ferry_batch(rets, calls, ncall, 0, 0) returns.
 * One that holds calls which belong to the calling thread is run by the poster at once.
 * Both arrays stay the caller's, untouched until collected.  Returns as ferry_flexsc_post().
 */
long ferry_flexsc_post_batch(struct ferry_flexsc *flexsc, long rets[],
			     const struct ferry_slot calls[], unsigned long ncall);

/** Collects a call if it is done: 1, with its *RESULT, and the ticket is void; else 0. */
int ferry_flexsc_poll(struct ferry_flexsc *flexsc, long ticket, long *result);

/**
 * Collects a call: returns its result, and the ticket is void.  Sleeps after a while.  When
 * the runner is held up in another call for a millisecond, the call is made here instead.
 */
long ferry_flexsc_wait(struct ferry_flexsc *flexsc, long ticket);

/** Posts and waits.  Without a free entry the call is made here. */
long ferry_flexsc_call(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc);

/** Why call NR is made by the thread that asks for it, as a constant sentence, or NULL. */
const char *ferry_direct_reason(long nr);

/** The name of a call that is made by the thread that asks for it, or NULL. */
const char *ferry_direct_name(long nr);

/* ---- user-level threads ---- */

/*
 * Many of them share the kernel thread that spawned them, and stay with it.  They switch
 * when one makes a call with ferry_thread_call(), yields, sleeps or joins; nothing
 * else interrupts them, so between those they need no locks among each other.  The
 * kernel thread's own code takes part as one of them from the first spawn to the last join.
 *
 * When a call blocks its runner while others wait behind it, another runner takes these
 * over within milliseconds, up to 64 more.
 *
 * All functions are for the thread that they concern and the others of its kernel
 * thread.  Stacks are 64 KiB with a guard page, kept for later threads.
 */
struct ferry_thread;

/**
 * Starts a thread at start(argument), which runs once the caller waits or yields.  All
 * threads of one kernel thread use the same FLEXSC.  Returns 0, -ENOMEM, -EAGAIN while other
 * kernel threads' user-level threads use up the entries, or -EBUSY for another FLEXSC.
 */
int ferry_thread_spawn(struct ferry_thread **thread, struct ferry_flexsc *flexsc,
		       void *(*start)(void *argument), void *argument);

/**
 * Waits until THREAD has returned, and frees it.  *VALUE, when VALUE is not NULL, is what it
 * returned.  Each thread must be joined once.  Returns 0, or -EDEADLK when THREAD waits for
 * the caller to end.
 */
int ferry_thread_join(struct ferry_thread *thread, void **value);

/** Lets the others run first.  Does nothing outside of user-level threads. */
void ferry_thread_yield(void);

/** Lets the others run for NS nanoseconds at least.  Outside of user-level threads it just sleeps.
 */
void ferry_thread_sleep(long ns);

/**
 * Makes call NR with six arguments, those that it does not take being anything.  In a user-level
 * thread the others run until its result is there; elsewhere it is the plain call.
 */
long ferry_thread_call(long nr, long a, long b, long c, long d, long e, long f);

/** The same of a call that takes at most three arguments, a little faster. */
long ferry_thread_call3(long nr, long a, long b, long c);

/** ferry_batch(rets, calls, ncall, 0, 0), made in the same way. */
long ferry_thread_batch(long rets[], const struct ferry_slot calls[], unsigned long ncall);

/* ---- measuring ---- */

/* Of a call, ns of CLOCK_MONOTONIC. */
struct ferry_flexsc_times {
	long asked;  /* ferry_thread_call() began */
	long posted; /* an entry was claimed and filled in */
	long taken;  /* the runner has it */
	long run;    /* the runner is done */
	long seen;   /* the caller goes on */
};

/** The times of the calling user-level thread's latest call, with FERRY_FLEXSC_TIMED; else zeros.
 */
struct ferry_flexsc_times ferry_flexsc_times(void);

/* ---- common calls, by ferry_thread_call(): the result, or -errno ---- */

static inline long ferry_getpid(void)
{
	return ferry_thread_call3(SYS_getpid, 0, 0, 0);
}

static inline long ferry_read(int fd, void *data, size_t size)
{
	return ferry_thread_call3(SYS_read, fd, (long)data, (long)size);
}

static inline long ferry_write(int fd, const void *data, size_t size)
{
	return ferry_thread_call3(SYS_write, fd, (long)data, (long)size);
}

static inline long ferry_pread(int fd, void *data, size_t size, off_t offset)
{
	return ferry_thread_call(SYS_pread64, fd, (long)data, (long)size, offset, 0, 0);
}

static inline long ferry_pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return ferry_thread_call(SYS_pwrite64, fd, (long)data, (long)size, offset, 0, 0);
}

static inline long ferry_readv(int fd, const struct iovec *parts, int count)
{
	return ferry_thread_call3(SYS_readv, fd, (long)parts, count);
}

static inline long ferry_writev(int fd, const struct iovec *parts, int count)
{
	return ferry_thread_call3(SYS_writev, fd, (long)parts, count);
}

static inline long ferry_openat(int directory, const char *path, int flags, mode_t mode)
{
	return ferry_thread_call(SYS_openat, directory, (long)path, flags, (long)mode, 0, 0);
}

static inline long ferry_close(int fd)
{
	return ferry_thread_call3(SYS_close, fd, 0, 0);
}

static inline long ferry_fsync(int fd)
{
	return ferry_thread_call3(SYS_fsync, fd, 0, 0);
}

static inline long ferry_fdatasync(int fd)
{
	return ferry_thread_call3(SYS_fdatasync, fd, 0, 0);
}

static inline long ferry_ftruncate(int fd, off_t size)
{
	return ferry_thread_call3(SYS_ftruncate, fd, size, 0);
}

#ifdef STATX_BASIC_STATS
static inline long ferry_statx(int directory, const char *path, int flags, unsigned int mask,
			       struct statx *status)
{
	return ferry_thread_call(SYS_statx, directory, (long)path, flags, (long)mask, (long)status,
				 0);
}
#endif

static inline long ferry_unlinkat(int directory, const char *path, int flags)
{
	return ferry_thread_call3(SYS_unlinkat, directory, (long)path, flags);
}

static inline long ferry_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	return ferry_thread_call(SYS_accept4, fd, (long)address, (long)size, flags, 0, 0);
}

static inline long ferry_connect(int fd, const struct sockaddr *address, socklen_t size)
{
	return ferry_thread_call3(SYS_connect, fd, (long)address, (long)size);
}

static inline long ferry_send(int fd, const void *data, size_t size, int flags)
{
	return ferry_thread_call(SYS_sendto, fd, (long)data, (long)size, flags, 0, 0);
}

static inline long ferry_recv(int fd, void *data, size_t size, int flags)
{
	return ferry_thread_call(SYS_recvfrom, fd, (long)data, (long)size, flags, 0, 0);
}

static inline long ferry_sendmsg(int fd, const struct msghdr *message, int flags)
{
	return ferry_thread_call3(SYS_sendmsg, fd, (long)message, flags);
}

static inline long ferry_recvmsg(int fd, struct msghdr *message, int flags)
{
	return ferry_thread_call3(SYS_recvmsg, fd, (long)message, flags);
}

#ifdef SYS_poll
static inline long ferry_poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
	return ferry_thread_call3(SYS_poll, (long)fds, (long)count, milliseconds);
}
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FERRY_FLEXSC_H */

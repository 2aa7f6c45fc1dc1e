/* SPDX-License-Identifier: MIT */
/*
 * flexsc: system calls that are posted and run by another thread of the process, the
 * runner, while the caller continues; and user-level threads that run while others wait
 * for results.  libferry_flexsc(3) and doc/flexsc.md describe it.
 *
 * Functions that can fail return -errno, and so do calls.  Nothing here touches errno.
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

#define FERRY_FLEXSC_MAX_STANDINS 1024

/** spin_ns of options: a runner without work sleeps at once. */
#define FERRY_NO_SPIN (-1L)

/* Options of ferry_flexsc_start(); all zeros are the defaults. */
struct ferry_flexsc_options {
	unsigned int runners; /* 1 to FERRY_FLEXSC_MAX_RUNNERS; default 1 */
	unsigned int entries; /* of each: a power of two, 64 to 4096; default 128 */

	/* cpus[i] is the CPU of runner i, or -1 for any.  NULL, the default, chooses CPUs that
	 * the caller may use: on other cores first, then other threads of its core. */
	const int *cpus;

	/* How long a runner without work, or a thread that waits, spins before it sleeps, at
	 * most: ns, or FERRY_NO_SPIN.  Default 50000, or 32 crossings where they take longer
	 * (user-mode Linux); FERRY_NO_SPIN if there is one CPU. */
	long spin_ns;

	unsigned int flags; /* a combination of the flags below */

	/* Of each user-level thread's stack, in bytes: 16384 to 1 GiB; default 262144.  It is
	 * address space, of which only what has been touched takes memory. */
	size_t stack_size;

	/* The most threads that stand in for runners whose call blocks, up to
	 * FERRY_FLEXSC_MAX_STANDINS; default 256.  When so many calls block, those behind them
	 * wait until one returns. */
	unsigned int standins;
};

#define FERRY_FLEXSC_USER 1U  /* runners stay in user space even if the kernel has flexsc */
#define FERRY_FLEXSC_TIMED 2U /* see ferry_flexsc_times() */

/* No thread that posts ever has other credentials, filters, domains, namespaces or rights to
 * memory than the one that starts the runners had: runners in user space make more calls. */
#define FERRY_FLEXSC_UNCONFINED 4U

/* Posts every call that a runner may make, also where the caller would make it sooner itself. */
#define FERRY_FLEXSC_POST_ALL 8U

struct ferry_flexsc;

/**
 * Where runners that this thread starts would run: "syscall" or "device", which are in the
 * kernel, or "user".  NULL if ferry_flexsc_start() would fail for $FERRY_FLEXSC_RUNNER.  *WHY
 * becomes a sentence with the reason (a constant).
 */
const char *ferry_flexsc_place(const char **why);

/**
 * Starts the runners.  *FLEXSC stays valid until ferry_flexsc_stop(); any number may exist
 * at a time.  OPTIONS may be NULL.  Returns 0, -EINVAL for an option out of its range,
 * -ENOMEM, -EAGAIN when no thread can be started, or the error of sched_setaffinity(2) for
 * a CPU.  $FERRY_FLEXSC_RUNNER may select where runners run: "syscall", "device" or "user";
 * the result is -EINVAL for another word, and -errno where the selected place is not available.
 *
 * Runners block all signals except SIGPIPE, SIGXFSZ and those that a fault raises; SIGTTIN and
 * SIGTTOU are as in the thread that starts them.  After a fork the child has no runners: the
 * poster makes its calls at once, calls in progress end with -ECANCELED, and ferry_flexsc_stop()
 * frees the memory.  Of the user-level threads it has only those of the kernel thread that forked.
 */
int ferry_flexsc_start(struct ferry_flexsc **flexsc, const struct ferry_flexsc_options *options);

/**
 * Ends the runners, waiting for the calls that they are making, and frees FLEXSC; NULL is fine.
 * Calls posted but not begun are dropped.  No other thread may use FLEXSC meanwhile or later.
 * Returns 0, or -EBUSY, with nothing done, while user-level threads use it.
 */
int ferry_flexsc_stop(struct ferry_flexsc *flexsc);

/** 1 when the kernel runs posted calls, 0 when a thread in user space does. */
int ferry_flexsc_in_kernel(const struct ferry_flexsc *flexsc);

/** The number of runners, not counting those that replace one whose call blocks. */
unsigned int ferry_flexsc_runners(const struct ferry_flexsc *flexsc);

/** The CPU time that all runners have used so far, ns. */
long ferry_flexsc_cpu_ns(const struct ferry_flexsc *flexsc);

/* ---- single calls, from any thread ---- */

/*
 * Any thread may post, and any one thread may poll or wait for a call.  Runners make calls
 * in no particular order.  Memory that the arguments point to belongs to the caller and must
 * stay valid until the call has been collected.
 *
 * Calls that belong to the calling thread (see ferry_direct_reason()) and those that
 * no batch makes never go to a runner: the poster makes the first at once, and the others
 * fail with -ENOSYS.
 */

/**
 * Posts call NR with args[0 .. argc - 1], copied; ARGS may be NULL when ARGC is 0.  Returns
 * a ticket to poll or wait with, which is not negative, -EINVAL for an NR outside a short's
 * range or ARGC over 6, -EAGAIN while all entries are in use, or -ENOMEM with an eventfd.
 */
long ferry_flexsc_post(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc);

/**
 * An eventfd that single calls signal: from now on, each one that ferry_flexsc_post() posts adds 1
 * to its counter when it is made, so that an event loop may wait for it among other descriptors.
 * Once it is readable, read it first and then poll all tickets: a signal may also mean that a call
 * is stuck behind one that blocks, and polling has it made by another runner.  A thread watches for
 * that.  To have a batch signal it, append
 * a write of the number 1, a uint64_t.  The descriptor is O_NONBLOCK, and ferry_flexsc_stop()
 * closes it.  Signalling takes one more call per call.  Returns -errno if there is none.
 */
int ferry_flexsc_eventfd(struct ferry_flexsc *flexsc);

/**
 * Posts a batch: its call's result is what ferry_batch(rets, calls, ncall, 0, 0) returns.
 * If it holds calls that belong to the calling thread, the poster runs it at once.  Both
 * arrays belong to the caller, who leaves them alone until the call is collected.  Returns as
 * ferry_flexsc_post().
 */
long ferry_flexsc_post_batch(struct ferry_flexsc *flexsc, long rets[],
			     const struct ferry_slot calls[], unsigned long ncall);

/** Collects a call if it is done: 1, with its *RESULT, and the ticket is void; else 0. */
int ferry_flexsc_poll(struct ferry_flexsc *flexsc, long ticket, long *result);

/**
 * Collects a call: returns its result, and the ticket is void.  Spins first, then sleeps.  If
 * the runner sleeps in another call, the calling thread makes the call.  In a user-level thread
 * the others run meanwhile, and the result is seen up to a millisecond late.  Returns -EINVAL for a
 * ticket that is void and has not been given out again, and for what is no ticket.
 */
long ferry_flexsc_wait(struct ferry_flexsc *flexsc, long ticket);

/** Posts and waits.  If no entry is free, the calling thread makes the call. */
long ferry_flexsc_call(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc);

/**
 * Why the calling thread makes call NR itself, as a constant sentence, or NULL if any runner may
 * make it.  Calls that only depend on what the caller may do are still made by runners in the
 * kernel, which compare the threads, and with FERRY_FLEXSC_UNCONFINED.
 */
const char *ferry_direct_reason(long nr);

/** The name of a call that the calling thread makes itself, or NULL. */
const char *ferry_direct_name(long nr);

/**
 * Declares that the calling kernel thread has restricted itself, or has descriptors or
 * namespaces of its own, since its first posted call or spawn: from now on it makes all its calls
 * itself.  Restrictions by ferry's functions need no declaration, nor do those that apply to all
 * threads, for example by setuid(3) or with SECCOMP_FILTER_FLAG_TSYNC.
 */
void ferry_flexsc_confined(void);

/* ---- user-level threads ---- */

/*
 * Many user-level threads share the kernel thread that spawned them, and stay with it.  They
 * switch only in ferry_thread_call(), yield, sleep and join, so they need no locks among each
 * other.  From the first spawn to the last join the kernel thread's own code is one of them.
 * Each has its own errno and, in C++, its own current exceptions.  Thread-local variables, the
 * signal mask and the floating-point environment are the kernel thread's.
 *
 * In a signal handler that interrupts the library, a call is a plain call, yield does nothing,
 * and spawn and join return -EBUSY.
 *
 * A call that has to wait for a descriptor that can be polled makes its thread wait, but no
 * runner.  If another call blocks its runner while others wait behind it, a stand-in takes these
 * over; the option standins limits their number.
 *
 * The functions may be called for threads of the calling kernel thread only.  A guard of 1 MiB
 * lies below each stack: a thread that overflows its stack by less than that ends by SIGSEGV.
 */
struct ferry_thread;

/**
 * Starts a thread at start(argument), which runs once the caller waits or yields.  All
 * threads of one kernel thread use the same FLEXSC.  Returns 0, -ENOMEM when there is no memory,
 * address space or mapping for its stack, -ENOSYS on a processor that ferry cannot switch stacks
 * on or for a kernel thread with a shadow stack, -EMFILE, -EAGAIN while other
 * kernel threads' user-level threads use up the entries, or -EBUSY for another FLEXSC or in a
 * signal handler.
 */
int ferry_thread_spawn(struct ferry_thread **thread, struct ferry_flexsc *flexsc,
		       void *(*start)(void *argument), void *argument);

/**
 * Waits until THREAD has returned, and frees it.  *VALUE, when VALUE is not NULL, is what it
 * returned.  Each thread must be joined once.  Returns 0, or -EDEADLK when THREAD waits for
 * the caller to end.
 */
int ferry_thread_join(struct ferry_thread *thread, void **value);

/** The same, for NS nanoseconds at most: -ETIMEDOUT if THREAD still runs, and is to be joined. */
int ferry_thread_join_for(struct ferry_thread *thread, void **value, long ns);

/** The calling user-level thread, or NULL for the kernel thread's own code. */
struct ferry_thread *ferry_thread_self(void);

/** The size of a thread's name with its null byte. */
#define FERRY_THREAD_NAME 32

/** Gives THREAD a name, copied, which debuggers show: 0, or -ERANGE if it is too long. */
int ferry_thread_set_name(struct ferry_thread *thread, const char *name);

/** The name of THREAD, at first "": valid until the thread is joined or gets another name. */
const char *ferry_thread_name(const struct ferry_thread *thread);

/** Lets the other threads run first.  Does nothing outside user-level threads. */
void ferry_thread_yield(void);

/** Sleeps at least NS nanoseconds.  In a user-level thread the others run meanwhile. */
void ferry_thread_sleep(long ns);

/**
 * Makes call NR with six arguments; it ignores those that it does not take.  In a user-level
 * thread the others run until the result is available; elsewhere this is the plain call.
 */
long ferry_thread_call(long nr, long a, long b, long c, long d, long e, long f);

/** The same for calls with at most three arguments, a little faster. */
long ferry_thread_call3(long nr, long a, long b, long c);

/** ferry_batch(rets, calls, ncall, 0, 0), made in the same way. */
long ferry_thread_batch(long rets[], const struct ferry_slot calls[], unsigned long ncall);

/* ---- locks among user-level threads ---- */

/*
 * For the threads of one kernel thread.  They need a mutex only where one of them may wait, make a
 * call or yield in the middle of a change.  All zeros is the initial state; there is nothing to
 * free.  Waiters get their turn in order of arrival.
 */
struct ferry_waiters {
	struct ferry_thread *first, *last;
};

struct ferry_mutex {
	struct ferry_thread *owner;
	struct ferry_waiters waiters;
};

struct ferry_condition {
	struct ferry_waiters waiters;
};

/** 0, or -EDEADLK if the caller holds MUTEX already, or no other thread can run to unlock it. */
int ferry_mutex_lock(struct ferry_mutex *mutex);

/** 0, or -EBUSY if MUTEX is locked. */
int ferry_mutex_trylock(struct ferry_mutex *mutex);

/** 0, -EPERM if the caller does not hold MUTEX, or -EBUSY in a signal handler. */
int ferry_mutex_unlock(struct ferry_mutex *mutex);

/**
 * Unlocks MUTEX, waits for a signal or a broadcast, and locks MUTEX again; MUTEX may be NULL.  Only
 * these wake it.  Returns 0, -EPERM if the caller does not hold MUTEX, or -EDEADLK outside
 * user-level threads.
 */
int ferry_condition_wait(struct ferry_condition *condition, struct ferry_mutex *mutex);

/** The same, for NS nanoseconds at most: then -ETIMEDOUT, with MUTEX locked. */
int ferry_condition_wait_for(struct ferry_condition *condition, struct ferry_mutex *mutex, long ns);

/** Wakes the thread that has waited longest.  Returns 0, or -EBUSY in a signal handler. */
int ferry_condition_signal(struct ferry_condition *condition);

/** Wakes all threads that wait.  Returns 0, or -EBUSY in a signal handler. */
int ferry_condition_broadcast(struct ferry_condition *condition);

/* ---- measuring ---- */

/* The times of a call, ns of CLOCK_MONOTONIC. */
struct ferry_flexsc_times {
	long asked;  /* ferry_thread_call() began */
	long posted; /* an entry was claimed and filled in */
	long taken;  /* the runner took the call */
	long run;    /* the runner was done with it */
	long seen;   /* the caller continued */
};

/** Times of the calling user-level thread's latest call; zeros without FERRY_FLEXSC_TIMED. */
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

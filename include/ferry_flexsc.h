/* SPDX-License-Identifier: MIT */
/*
 * flexsc: system calls that are posted and made by another thread of the process, the
 * runner, while the caller continues.  libferry_flexsc(3) and doc/flexsc.md describe it.
 *
 * Functions that can fail return -errno, and so do calls.  Nothing here touches errno.
 */
#ifndef FERRY_FLEXSC_H
#define FERRY_FLEXSC_H

#include <sys/syscall.h>

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

	/* The most threads that stand in for runners whose call blocks, up to
	 * FERRY_FLEXSC_MAX_STANDINS; default 256.  When so many calls block, those behind them
	 * wait until one returns. */
	unsigned int standins;
};

#define FERRY_FLEXSC_USER 1U /* runners stay in user space even if the kernel has flexsc */

/* No thread that posts ever has other credentials, filters, domains, namespaces or rights to
 * memory than the one that starts the runners had: runners in user space make more calls. */
#define FERRY_FLEXSC_UNCONFINED 4U

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
 * frees the memory.
 */
int ferry_flexsc_start(struct ferry_flexsc **flexsc, const struct ferry_flexsc_options *options);

/**
 * Ends the runners, waiting for the calls that they are making, and frees FLEXSC; NULL is fine.
 * Calls posted but not begun are dropped.  No other thread may use FLEXSC meanwhile or later.
 */
void ferry_flexsc_stop(struct ferry_flexsc *flexsc);

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
 * that.  To have a batch signal it, append a write of the number 1, a uint64_t.  The descriptor is
 * O_NONBLOCK, and ferry_flexsc_stop() closes it.  Signalling takes one more call per call.  Returns
 * -errno if there is none.
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
 * the runner sleeps in another call, the calling thread makes the call if it has posted it, and
 * another runner does otherwise.  Returns -EINVAL for a ticket that is void and has not been given
 * out again, and for a number that is not a ticket.
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
 * Declares that the calling thread has restricted itself, or has descriptors or namespaces of
 * its own, since its first posted call: from now on it makes all its calls itself.  Restrictions
 * by ferry's functions need no declaration, nor do those that apply to all threads, for example
 * by setuid(3) or with SECCOMP_FILTER_FLAG_TSYNC.
 */
void ferry_flexsc_confined(void);

#ifdef __cplusplus
}
#endif

#endif /* FERRY_FLEXSC_H */

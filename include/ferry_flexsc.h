/* SPDX-License-Identifier: MIT */
/*
 * flexsc: a thread posts a system call and continues; another thread of the process, the
 * runner, makes the call.  libferry_flexsc(3) lists the manual pages.
 *
 * Functions that can fail return -errno, and so do calls.  No function touches errno.
 */
#ifndef FERRY_FLEXSC_H
#define FERRY_FLEXSC_H

#include <sys/syscall.h>

#include <ferry.h>
#include <linux/flexsc.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- runners ---- */

#define FERRY_FLEXSC_MAX_RUNNERS 64

#define FERRY_FLEXSC_MAX_STANDINS 1024

/** A value for spin_ns: a runner without work sleeps at once. */
#define FERRY_NO_SPIN (-1L)

/* Options of ferry_flexsc_start(); all zeros are the defaults. */
struct ferry_flexsc_options {
	unsigned int runners;  /* 1 to FERRY_FLEXSC_MAX_RUNNERS; default 1 */
	unsigned int entries;  /* of each runner: a power of two, 64 to 4096; default 128 */
	const int *cpus;       /* the CPU of each runner, -1 for any; NULL chooses */
	long spin_ns;	       /* how long to spin before a sleep, ns; default 50000 or longer */
	unsigned int flags;    /* a combination of the flags below */
	unsigned int standins; /* at most so many for runners whose call blocks; default 256 */
};

#define FERRY_FLEXSC_USER 1U	   /* runners stay in user space */
#define FERRY_FLEXSC_UNCONFINED 4U /* no thread is ever restricted differently from the runners */

struct ferry_flexsc;

/** "syscall", "device" or "user": where runners of this thread would run; *WHY explains. */
const char *ferry_flexsc_place(const char **why);

/** Starts runners; *FLEXSC is valid until ferry_flexsc_stop().  Returns 0 or -errno. */
int ferry_flexsc_start(struct ferry_flexsc **flexsc, const struct ferry_flexsc_options *options);

/** Ends the runners after their present calls, and frees FLEXSC, or does nothing for NULL.  No
 * thread may use FLEXSC meanwhile. */
void ferry_flexsc_stop(struct ferry_flexsc *flexsc);

/** 1 when the kernel makes posted calls, 0 when a thread in user space does. */
int ferry_flexsc_in_kernel(const struct ferry_flexsc *flexsc);

/** The number of runners, without stand-ins. */
unsigned int ferry_flexsc_runners(const struct ferry_flexsc *flexsc);

/** The CPU time that all runners together have used so far, ns. */
long ferry_flexsc_cpu_ns(const struct ferry_flexsc *flexsc);

/* ---- calls, from any thread; ferry_flexsc_post(3) ---- */

/** Posts a call, copied.  Returns a ticket, not negative, or -errno; -EAGAIN: no free entry was
 * found. */
long ferry_flexsc_post(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc);

/** Posts a batch.  The caller leaves the arrays alone until it collects the ticket.  Returns as
 * ferry_flexsc_post(). */
long ferry_flexsc_post_batch(struct ferry_flexsc *flexsc, long rets[],
			     const struct batch_slot calls[], unsigned long ncall);

/** If the call is done, stores *RESULT, voids the ticket and returns 1; otherwise returns 0. */
int ferry_flexsc_poll(struct ferry_flexsc *flexsc, long ticket, long *result);

/** Waits for the call, spinning first and then asleep; voids the ticket, and returns the result. */
long ferry_flexsc_wait(struct ferry_flexsc *flexsc, long ticket);

/** Posts and waits.  If no entry is free, the calling thread makes the call. */
long ferry_flexsc_call(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc);

/** An eventfd, O_NONBLOCK, that each call posted from now on signals; or -errno. */
int ferry_flexsc_eventfd(struct ferry_flexsc *flexsc);

/** The reason, constant, why some callers must make call NR themselves; NULL if none must. */
const char *ferry_direct_reason(long nr);

/** The name of such a call, or NULL. */
const char *ferry_direct_name(long nr);

/** Call this in a thread that has restricted itself: from now on it makes all its calls itself. */
void ferry_flexsc_confined(void);

#ifdef __cplusplus
}
#endif

#endif /* FERRY_FLEXSC_H */

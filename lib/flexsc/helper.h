/* SPDX-License-Identifier: MIT */
/*
 * A call that may wait long, has no form that does not wait, and depends on what its caller may do:
 * a kernel thread of its own makes it.  The caller starts that thread, which thus inherits all that
 * the kernel checks.
 */
#ifndef FLEXSC_HELPER_H
#define FLEXSC_HELPER_H

#include <linux/types.h>
#include <pthread.h>
#include <stdbool.h>

struct scheduler;

/* On the stack of the user-level thread that waits. */
struct helper {
	long nr;
	const __s64 *arg;
	long result;
	struct ferry_thread *waiter;
	int eventfd;
	pthread_t thread;
	bool is_done; /* atomic */
	struct helper *next;
};

/** What a helper adds to the bell's eventfd: bells that ring count below. */
#define HELPED (1UL << 32)

/** Starts the call of HELPER for the current thread, which is then to wait: 0, or -errno. */
int ferry__helper_start(struct scheduler *s, struct helper *helper);

/** Wakes the threads whose helpers are done. */
void ferry__helpers_collect(struct scheduler *s);

/** In a forked child, where no helper exists: all calls have ended with -ECANCELED. */
void ferry__helpers_cancel(struct scheduler *s);

#endif /* FLEXSC_HELPER_H */

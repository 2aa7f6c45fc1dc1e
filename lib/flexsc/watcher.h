/* SPDX-License-Identifier: MIT */
/*
 * Event loops sleep in an epoll of their own and do not see that a call waits behind one that
 * blocks, or that a runner has refused it.  So the watcher, a thread, looks each millisecond while
 * calls wait or run, and signals the eventfd: then the loop polls its tickets, which moves the
 * call to another runner or makes it.
 */
#ifndef FLEXSC_WATCHER_H
#define FLEXSC_WATCHER_H

#include <pthread.h>

struct ferry_flexsc;

struct watcher {
	unsigned int state; /* a futex word, atomic */
	pthread_t thread;
};

/** Starts the watcher of FLEXSC, which has its eventfd: 0, or -errno. */
int ferry__watcher_start(struct ferry_flexsc *flexsc);

/** Ends it. */
void ferry__watcher_stop(struct ferry_flexsc *flexsc);

/** Makes it look: a call was posted to a runner that may be busy. */
void ferry__watcher_rouse(struct ferry_flexsc *flexsc);

#endif /* FLEXSC_WATCHER_H */

/* SPDX-License-Identifier: MIT */
/* Whether somebody must see each system call of the calling thread by itself. */
#ifndef WATCHED_H
#define WATCHED_H

/* Who has to see each call of a thread. */
enum watcher {
	WATCHER_NONE,
	WATCHER_FILTER,	 /* a seccomp filter, which io_uring would bypass */
	WATCHER_TRACER,	 /* which would not see io_uring's requests */
	WATCHER_UNKNOWN, /* /proc cannot be read: a tracer is possible */
};

/* What a thread found when it last looked for a tracer: looking takes microseconds. */
struct tracer_check {
	long when; /* CLOCK_MONOTONIC, ns; 0: never */
	enum watcher found;
};

/*
 * Who watches the calling thread.  The filter is looked for every time.  A tracer is looked
 * for from time to time, and whenever it may be what makes a call slow: one that follows
 * calls stops the thread at each.
 */
enum watcher ferry__thread_watcher(struct tracer_check *last);

#endif /* WATCHED_H */

/* SPDX-License-Identifier: MIT */
/* Whether a filter or a tracer must see each system call of the calling thread. */
#ifndef WATCHED_H
#define WATCHED_H

/* What must see every system call of a thread. */
enum watcher {
	WATCHER_NONE,
	WATCHER_FILTER,	   /* a seccomp filter, which io_uring would bypass */
	WATCHER_TRACER,	   /* which would not see io_uring's requests */
	WATCHER_UNKNOWN,   /* /proc cannot be read: a tracer is possible */
	WATCHER_UNCHECKED, /* a thread forks, or this is a child of vfork(): see unseen.h */
};

/* The result of the last look for a tracer, kept because a look takes microseconds. */
struct tracer_check {
	long when; /* CLOCK_MONOTONIC, ns; 0: never */
	enum watcher found;
};

/*
 * What watches the calling thread.  Each call looks for a filter.  It looks for a tracer from
 * time to time, and whenever a system call is slow: a tracer that follows calls stops the
 * thread at each of them.
 */
enum watcher ferry__thread_watcher(struct tracer_check *last);

#endif /* WATCHED_H */

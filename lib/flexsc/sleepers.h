/* SPDX-License-Identifier: MIT */
/* The user-level threads that wait for a time: a binary heap, the earliest on top. */
#ifndef FLEXSC_SLEEPERS_H
#define FLEXSC_SLEEPERS_H

#include <stddef.h>

struct ferry_thread;

struct sleeper {
	long until; /* ns of clock_ns() */
	struct ferry_thread *thread;
};

struct sleepers {
	struct sleeper *heap;
	size_t count, room;
};

/** Adds a thread: 0, or -ENOMEM. */
int ferry__sleepers_add(struct sleepers *sleepers, struct ferry_thread *thread, long until);

/** Removes a thread if it is there. */
void ferry__sleepers_remove(struct sleepers *sleepers, struct ferry_thread *thread);

/** Removes and returns a thread whose time has come at NOW, or returns NULL. */
struct ferry_thread *ferry__sleepers_take(struct sleepers *sleepers, long now);

void ferry__sleepers_free(struct sleepers *sleepers);

#endif /* FLEXSC_SLEEPERS_H */

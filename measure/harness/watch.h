/* SPDX-License-Identifier: MIT */
/* Whether something watches every system call of this machine, which makes each of them dearer. */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

/* What one more flag of the thread costs a call that does nothing, and the call itself. */
struct flag_cost {
	double call, flag;
};

/**
 * Whether a thread had a flag that leads its calls through the kernel's slow entry before FIRST
 * was measured.  SECOND was measured when the thread certainly had one.
 */
bool watch_slow_entry(struct flag_cost first, struct flag_cost second);

/**
 * Why system calls take longer than on a machine by itself: a sentence without its full stop,
 * kept, or NULL where nothing was found.  Takes some milliseconds, in children.
 */
const char *watch_find(void);

#endif /* WATCH_H */

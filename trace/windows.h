/* SPDX-License-Identifier: MIT */
/*
 * A sample of what the threads did: windows, each of so many calls that one thread made one after
 * the other.  All windows are kept until there are too many calls; from then on a half of them
 * is, then a quarter, and so on.  Which ones depends on their order alone, so that the same
 * calls give the same sample.
 */
#ifndef TRACE_WINDOWS_H
#define TRACE_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "bpf/sample.h"

struct window {
	uint64_t id; /* in the order of their first calls */
	bool kept, open;
	size_t seen; /* calls, kept or not */
	size_t count, room;
	struct traced_call *calls;
};

struct windows {
	struct window **of; /* those that are kept */
	size_t count, room;
	size_t calls; /* in all of them */
	uint64_t next_id;
	unsigned int halvings;
};

/** Whether the next call of the thread whose window is OPEN, or NULL, may be kept. */
bool windows_want(const struct windows *windows, const struct window *open);

/** A window with this id, for windows_add(): the kernel gives them ids, too. */
struct window *windows_open(struct windows *windows, uint64_t id);

/** Adds CALL, whose texts are the window's from now on, to *OPEN, which changes. */
void windows_add(struct windows *windows, struct window **open, struct traced_call *call);

/** Forgets all calls, and takes all windows from now on; those that are open go on. */
void windows_restart(struct windows *windows);

/** The thread of the window OPEN makes no more calls. */
void windows_close(struct window *open);

#endif /* TRACE_WINDOWS_H */

/* SPDX-License-Identifier: MIT */
/*
 * Calls behind one that blocks its runner.  They are withdrawn and given to another runner; the
 * ring with the call that blocks is held up until this is done.
 */
#ifndef FLEXSC_RELIEF_H
#define FLEXSC_RELIEF_H

#include <stdbool.h>

struct lane;
struct ring;
struct scheduler;

/** Whether calls of the lane wait that the runner has not begun. */
bool ferry__is_waited_behind(const struct lane *lane);

/** Moves the lane's calls to another runner if they wait behind one that blocks. */
void ferry__relieve_if_blocked(struct scheduler *s, struct lane *lane, long now);

/** Collects the calls that were held up and are done. */
void ferry__relief_collect(struct scheduler *s);

/** In a forked child: ends the calls under way, which belong to the parent, with -ECANCELED. */
void ferry__cancel_calls(struct scheduler *s);

#endif /* FLEXSC_RELIEF_H */

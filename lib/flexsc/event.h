/* SPDX-License-Identifier: MIT */
/*
 * Posted batches, and single calls that signal an eventfd when they are made: each of these is
 * posted as a batch of the call and a write to the eventfd.
 */
#ifndef FLEXSC_EVENT_H
#define FLEXSC_EVENT_H

#include <stdbool.h>

#include <linux/flexsc.h>

/** Adds 1 to the eventfd's counter. */
void ferry__event_signal(int eventfd);

/** Fills in ENTRY with a batch: 0, or -ENOMEM. */
int ferry__batch_fill(struct flexsc_entry *entry, long rets[], const struct batch_slot calls[],
		      unsigned long ncall);

/** Fills in ENTRY with a call that signals: 0, or -ENOMEM. */
int ferry__event_fill(struct flexsc_entry *entry, int eventfd, long nr, const long args[],
		      unsigned int argc);

/** Whether the call of ENTRY, which is posted, is one that signals and has its result. */
bool ferry__event_has_result(const struct flexsc_entry *entry);

/** Collects: the result of the call of ENTRY, which is over with RESULT and may signal or not. */
long ferry__event_collect(const struct flexsc_entry *entry, long result);

/** Frees what calls hold that will never be collected.  SET has no runner any more. */
void ferry__event_drop_all(const struct flexsc_set *set);

#endif /* FLEXSC_EVENT_H */

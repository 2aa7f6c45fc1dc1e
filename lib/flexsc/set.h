/* SPDX-License-Identifier: MIT */
/*
 * What both sides of a set do: the fences, the sleeping and the waking of
 * <linux/flexsc.h>, which names the pairs that the fences keep in order.
 */
#ifndef FLEXSC_SET_H
#define FLEXSC_SET_H

#include <stdbool.h>

#include <ferry/loop.h>
#include <linux/flexsc.h>

/** A set of COUNT entries without a runner, or NULL.  A forked child reads it as zeros. */
struct flexsc_set *ferry__set_new(unsigned int count, long spin_ns, unsigned int flags);

void ferry__set_free(struct flexsc_set *set, unsigned int count);

/** Whether this process is a child of the one that made SET, and thus has no runner. */
static inline bool set_is_wiped(const struct flexsc_set *set)
{
	return set->version != FLEXSC_VERSION;
}

/** The flag for sets of this process: FLEXSC_FENCES where membarrier is missing, or 0. */
unsigned int ferry__set_fence_flag(void);

/** The heavy fence of a set with FLAGS. */
void ferry__set_heavy_fence(unsigned int flags);

/** Tells the runner to leave. */
void ferry__set_stop(struct flexsc_set *set);

/**
 * Takes ENTRY back, which becomes FREE: false if it is begun or not SUBMITTED any more.  Only one
 * thread at a time may call this.
 */
bool ferry__set_withdraw(struct flexsc_set *set, struct flexsc_entry *entry);

/**
 * Announces a sleep on the status of ENTRY, of a set with FLAGS: false if it is not SUBMITTED any
 * more.
 */
bool ferry__entry_expect_wake(struct flexsc_entry *entry, unsigned int flags);

/** Takes the announcement back, before anything else is done with ENTRY. */
void ferry__entry_expect_none(struct flexsc_entry *entry);

/** Gives ENTRY, whose call is filled in, to the runner; where there is none, makes the call. */
void ferry__entry_submit(struct flexsc_set *set, struct flexsc_entry *entry);

/** Makes the call of ENTRY in the calling thread and returns its result. */
long ferry__entry_run(const struct flexsc_entry *entry);

/** The same for a call that a handler ended in a runner in the kernel: -EINTR, or the rest of a
 * batch. */
long ferry__entry_interrupted(const struct flexsc_entry *entry);

/** The light fence. */
static inline void set_light_fence(unsigned int flags)
{
	if (FERRY_UNLIKELY(flags & FLEXSC_FENCES))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline bool entry_is_done(const struct flexsc_entry *entry)
{
	return __atomic_load_n(&entry->status, __ATOMIC_ACQUIRE) == FLEXSC_ENTRY_DONE;
}

/** Whether the thread that posted ENTRY has to make its call. */
static inline bool entry_is_refused(const struct flexsc_entry *entry)
{
	return __atomic_load_n(&entry->status, __ATOMIC_ACQUIRE) == FLEXSC_ENTRY_REFUSED;
}

/** Whether the runner has nothing more to do with ENTRY, which was posted. */
static inline bool entry_is_over(const struct flexsc_entry *entry)
{
	return entry_is_done(entry) || entry_is_refused(entry);
}

/** Whether the runner has taken ENTRY, which is SUBMITTED. */
static inline bool entry_is_begun(const struct flexsc_entry *entry)
{
	return __atomic_load_n(&entry->begun, __ATOMIC_ACQUIRE);
}

#endif /* FLEXSC_SET_H */

/* SPDX-License-Identifier: MIT */
/*
 * What both sides of a set do: the fences, the sleeping and the waking of
 * <linux/ferry_flexsc.h>, which names the pairs that the fences keep in order.
 */
#ifndef FLEXSC_SET_H
#define FLEXSC_SET_H

#include <stdbool.h>

#include <ferry/loop.h>
#include <linux/ferry_flexsc.h>

/** A set of COUNT entries without a runner, or NULL.  A forked child reads it as zeros. */
struct ferry_flexsc_set *ferry__set_new(unsigned int count, long spin_ns, unsigned int flags);

void ferry__set_free(struct ferry_flexsc_set *set, unsigned int count);

/** Whether this process is a child of the one that made SET, and thus has no runner. */
static inline bool set_is_wiped(const struct ferry_flexsc_set *set)
{
	return set->version != FERRY_FLEXSC_VERSION;
}

/** The flag for sets of this process: FERRY_FLEXSC_FENCES where membarrier is missing, or 0. */
unsigned int ferry__set_fence_flag(void);

/** The heavy fence of a set with FLAGS. */
void ferry__set_heavy_fence(unsigned int flags);

/** Wakes the runner if it sleeps.  The fence that this requires comes before. */
void ferry__set_wake_runner(struct ferry_flexsc_set *set);

/** Tells the runner to leave. */
void ferry__set_stop(struct ferry_flexsc_set *set);

/**
 * Takes back those of the COUNT entries from ENTRY on that are SUBMITTED and not begun: they
 * become FREE.  Returns how many.  Only one thread at a time may call this.
 */
unsigned int ferry__set_withdraw(struct ferry_flexsc_set *set, struct ferry_entry *entry,
				 unsigned int count);

/**
 * Announces a sleep on the status of COUNT entries of sets with FLAGS: false if one of them is
 * not SUBMITTED any more.
 */
bool ferry__entries_expect_wake(struct ferry_entry *const entries[], unsigned int count,
				unsigned int flags);

/** Takes the announcement back, before anything else is done with ENTRY. */
void ferry__entry_expect_none(struct ferry_entry *entry);

/** Gives ENTRY, whose call is filled in, to the runner; where there is none, makes the call. */
void ferry__entry_submit(struct ferry_flexsc_set *set, struct ferry_entry *entry);

/** The second half of submitting, after entry_publish(), if the runner may be asleep or absent. */
void ferry__entry_rouse(struct ferry_flexsc_set *set, struct ferry_entry *entry);

/** Makes the call of ENTRY in the calling thread and returns its result. */
long ferry__entry_run(const struct ferry_entry *entry);

/** The light fence. */
static inline void set_light_fence(unsigned int flags)
{
	if (FERRY_UNLIKELY(flags & FERRY_FLEXSC_FENCES))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline bool entry_is_done(const struct ferry_entry *entry)
{
	return __atomic_load_n(&entry->status, __ATOMIC_ACQUIRE) == FERRY_ENTRY_DONE;
}

/** Whether the thread that posted ENTRY has to make its call. */
static inline bool entry_is_refused(const struct ferry_entry *entry)
{
	return __atomic_load_n(&entry->status, __ATOMIC_ACQUIRE) == FERRY_ENTRY_REFUSED;
}

/** Whether the runner has nothing more to do with ENTRY, which was posted. */
static inline bool entry_is_over(const struct ferry_entry *entry)
{
	return entry_is_done(entry) || entry_is_refused(entry);
}

/** Whether the runner has taken ENTRY, which is SUBMITTED. */
static inline bool entry_is_begun(const struct ferry_entry *entry)
{
	return __atomic_load_n(&entry->begun, __ATOMIC_ACQUIRE);
}

/** Fills in a call, all but argc: entries of rings have it set once for all. */
static inline void entry_fill(struct ferry_entry *entry, long nr, long a, long b, long c, long d,
			      long e, long f)
{
	entry->nr = (short)nr;
	entry->arg[0] = a;
	entry->arg[1] = b;
	entry->arg[2] = c;
	entry->arg[3] = d;
	entry->arg[4] = e;
	entry->arg[5] = f;
}

/** Makes ENTRY, whose call is filled in, SUBMITTED.  The pair's light fence comes next. */
static inline void entry_publish(struct ferry_entry *entry)
{
	__atomic_store_n(&entry->status, FERRY_ENTRY_SUBMITTED, __ATOMIC_RELEASE);
}

#endif /* FLEXSC_SET_H */

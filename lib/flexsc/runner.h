/* SPDX-License-Identifier: MIT */
/* A runner: its thread, its set, and which entries of the set are in use. */
#ifndef FLEXSC_RUNNER_H
#define FLEXSC_RUNNER_H

#include <pthread.h>

#include "kernel.h"
#include "set.h"

#define WORD_BITS 64
#define MAX_WORDS (FLEXSC_MAX_ENTRIES / WORD_BITS)

struct ferry_flexsc;

struct runner {
	struct ferry_flexsc *flexsc;
	struct flexsc_set *set;
	unsigned int index; /* in ferry_flexsc.runner */
	int cpu;	    /* or -1: any of flexsc->cpus */
	enum flexsc_place place;
	int limit; /* of enum call_who: what it takes in user space instead */
	pid_t tid; /* 0 until it runs; atomic */
	pthread_t thread;
	bool has_thread; /* to be joined */
	bool is_spare;	 /* serves no slot: its thread ends when it has had nothing to do; atomic */
	bool is_retired; /* its thread has ended, and its entries are claimed; atomic */
	long used_ns;	 /* CPU time of threads that have ended; atomic */
	long looked_ns;	 /* when a thread that polls has last looked whether it blocks; atomic */
	bool was_blocked;	     /* then; atomic */
	pthread_mutex_t withdrawing; /* held by the thread that closes the gate */

	/* Changed by each post: a cache line of its own. */
	unsigned int next __attribute__((__aligned__(64))); /* to claim, as a hint; atomic */

	/* Bit i of word w: entry 64 w + i is free.  Atomic. */
	unsigned long free[MAX_WORDS];
};

/**
 * Starts a runner on CPU, or on any if CPU is -1.  Returns 0, or -errno.  The caller holds
 * the mutex, or no other thread knows FLEXSC yet.
 */
int ferry__runner_start(struct ferry_flexsc *flexsc, int cpu, struct runner **runner);

/** Ends a runner and frees it.  In a forked child, where its thread does not exist, only frees. */
void ferry__runner_end(struct ferry_flexsc *flexsc, struct runner *runner);

/**
 * Makes another runner serve SLOT if BLOCKED still does: an idle one, or a new one.  Returns 0,
 * or -EAGAIN when there are too many.
 */
int ferry__runner_replace(struct ferry_flexsc *flexsc, unsigned int slot,
			  const struct runner *blocked);

/**
 * Whether the runner's thread sleeps in a call.  A thread that waits for a CPU does not sleep.
 * Where /proc is missing, any thread that is in a call counts as asleep.
 */
bool ferry__runner_is_blocked(const struct runner *runner);

/** CPU time that the runner's thread has used, ns. */
long ferry__runner_cpu_ns(const struct runner *runner);

/**
 * Claims an entry, or returns NULL: the next free one after that claimed last, which is where the
 * runner looks next.
 */
struct flexsc_entry *ferry__runner_claim(struct runner *runner);

void ferry__runner_free(struct runner *runner, const struct flexsc_entry *entry);

/** Whether ENTRY is not claimed. */
bool ferry__runner_has_free(const struct runner *runner, const struct flexsc_entry *entry);

/** ferry__set_withdraw(), by one thread at a time. */
bool ferry__runner_withdraw(struct runner *runner, struct flexsc_entry *entry);

#endif /* FLEXSC_RUNNER_H */

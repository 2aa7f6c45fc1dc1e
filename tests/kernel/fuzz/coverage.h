/* SPDX-License-Identifier: MIT */
/*
 * What threads reach in the kernel, as KCOV records it: places, which are basic blocks of the
 * files that the kernel was built to record (lab/targets.py), and edges, which are pairs of places
 * of one file that were reached one after the other.
 */
#ifndef COVERAGE_H
#define COVERAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define RECORDERS 5

/* Sets of words, by open addressing; 0 is an empty entry. */
#define MOST_PLACES (1UL << 13)
#define MOST_EDGES (1UL << 17)

/* In memory that processes share, and zeroed at first. */
struct coverage {
	_Atomic uint64_t places[MOST_PLACES];
	_Atomic uint64_t edges[MOST_EDGES];
	atomic_ulong count, edge_count;
};

/* What of a record was not known before. */
struct news {
	unsigned long places, edges;
};

/*
 * Opens all recorders.  Returns NULL, or why this kernel records nothing; then, and before this,
 * the other functions do nothing.
 */
const char *coverage_open(void);

bool coverage_is_open(void);

/*
 * Recorder I, 0 .. RECORDERS - 1, records the calling thread from here on.  A thread has one
 * recorder, and a recorder has no other thread before that one has ended.
 */
void coverage_record(unsigned int i);

/* Adds to ALL what the recorders have recorded since the last time. */
struct news coverage_take(struct coverage *all);

/*
 * Adds what recorder I, of the calling thread, has recorded, before it has no room for more.
 * Meant for threads that record for long.
 */
void coverage_make_room(struct coverage *all, unsigned int i);

/* Forgets what the recorders have recorded since the last time. */
void coverage_drop(void);

/* The places as text, a line each; coverage_read() adds those in FILE. */
void coverage_write(const struct coverage *all, FILE *file);
struct news coverage_read(struct coverage *all, FILE *file);

#endif /* COVERAGE_H */

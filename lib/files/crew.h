/* SPDX-License-Identifier: MIT */
/*
 * The threads that work on one call: the caller, and helpers from the pool.  All of them run
 * the same function, which takes pieces of the job until none is left.
 */
#ifndef FILES_CREW_H
#define FILES_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <ferry_files.h>

struct crew;
struct proxy;

/* A thread's clocks, in ns, and its context switches. */
struct times {
	long now; /* CLOCK_MONOTONIC */
	long cpu;
	long waits;	/* for the disk, or something else */
	long preempted; /* by another thread that needed the CPU */
};

/* One thread of a crew. */
struct member {
	struct crew *crew;
	struct proxy *proxy; /* makes its system calls, once there is one: see calls.c */
	bool is_caller;
	struct times times; /* at the last look whether it waits */
};

struct crew {
	void (*work)(struct member *member);	   /* ends with ferry__calls_end() */
	const struct ferry_files_options *options; /* never NULL */
	unsigned int cpus;			   /* the most threads that can run at once */
	unsigned int most;			   /* the most threads, some of which wait */
	atomic_uint size;			   /* threads, with the caller */
	atomic_bool stopped;
	atomic_size_t done; /* items */
	long next_progress; /* CLOCK_MONOTONIC, ns; the caller's */
	pthread_mutex_t lock;
	pthread_cond_t left; /* a helper has left */
	unsigned int helpers;
};

/** A crew of the caller alone, with OPTIONS, which may be NULL. */
void ferry__crew_init(struct crew *crew, void (*work)(struct member *member),
		      const struct ferry_files_options *options);

/**
 * Works with up to THREADS threads at first, fewer if there are not as many CPUs.  Returns when all
 * have ended.  CREW can be used again.
 */
void ferry__crew_run(struct crew *crew, unsigned int threads);

/** Works without any helper, for a job so small that even counting CPUs takes too long. */
void ferry__crew_run_alone(struct crew *crew);

/** Adds a helper if there are CPUs for one. */
void ferry__crew_add_for_cpu(struct crew *crew);

/**
 * To be called after each piece of work with the number of ITEMS in it.  A member that had to wait
 * for the disk adds a helper, so that the disk gets more requests at once.
 */
void ferry__crew_did(struct member *member, size_t items);

/** MEMBER has waited for something other than the disk. */
void ferry__crew_forgive(struct member *member);

/** Whether the job is to end early.  Calls the progress callback when it is due. */
bool ferry__crew_stopped(struct member *member);

/** The progress callback is due at the caller's next look whether the job is to end. */
void ferry__crew_report_soon(struct crew *crew);

/** Ends the job early. */
void ferry__crew_stop(struct crew *crew);

#endif /* FILES_CREW_H */

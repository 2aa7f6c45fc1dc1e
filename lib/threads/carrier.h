/* SPDX-License-Identifier: MIT */
/* Carriers: kernel threads that run the program's threads. */
#ifndef THREADS_CARRIER_H
#define THREADS_CARRIER_H

#include "lock.h"
#include "thread.h"

#define MOST_WANTED 128	   /* that run threads at a time */
#define MOST_CARRIERS 8192 /* with those that are held */
#define CALL_BUDGET 24 /* calls of a thread whose peer always answers in time, then others run */

struct carrier {
	struct host host;
	struct thread *current; /* or NULL: it looks for one */
	struct {
		struct lock lock;
		struct thread *first, **end;
		int length; /* also read without the lock */
	} queue;
	unsigned long switches; /* these three are written by the carrier alone */
	unsigned long waits;	/* of threads, that ended their turns */
	unsigned long sleeps;	/* of the carrier, without a thread to run */
	unsigned int since_look;
	int index, tid;
	uint64_t mask;			  /* the kernel thread's signal mask */
	struct signal_stack signal_stack; /* the kernel thread's */
	/* the monitor's: */
	bool stuck;  /* another carrier has taken its place */
	bool spare;  /* waits until one is needed; the carrier's own */
	bool hogged; /* by computing: for the carrier, as the thread may be gone by now */
	unsigned long seen;
	int64_t cpu_seen;
} __attribute__((aligned(64)));

extern struct carrier carriers[MOST_CARRIERS] __attribute__((visibility("hidden")));

/* Counters that are read without order; each is right on its own. */
struct carrier_state {
	int wanted;  /* that may run threads at a time: one per CPU, or as the user says */
	int used;    /* of them, as trials found best; see rest.c */
	int extra;   /* besides, for some ticks of the monitor */
	int made;    /* created, including spares and stuck ones */
	int running; /* neither spare nor stuck */
	int idle;    /* wait for events */
	int spares;
};
extern struct carrier_state carrier_state __attribute__((visibility("hidden")));

static inline int carriers_allowed(void)
{
	return __atomic_load_n(&carrier_state.used, __ATOMIC_RELAXED) +
	       __atomic_load_n(&carrier_state.extra, __ATOMIC_RELAXED);
}

/* Queues a thread that may run. */
void carrier_push(struct thread *thread);

/* Has this carrier look for events before it runs another thread. */
void carrier_look_soon(struct carrier *carrier);

/* Starts COUNT carriers, with all signals blocked.  Returns 0 or an errno. */
int carriers_start(int count);

/* From now on, so many of them run threads; the others are spares. */
void carriers_use(int count);

/* One more: a spare, or a new one. */
void carrier_add(void);

/* Wakes those that sleep, so that they see that the layer is over. */
void carriers_wake(void);

/* Whether threads wait in queues. */
bool carrier_has_work(void);

/* Wakes an idle carrier. */
void carrier_kick(void);
void carrier_was_kicked(void);

/* How many CPUs the process may use: affinity and the quota of its control group. */
int carrier_cpus(void);

/* The carrier whose kernel thread is TID, or NULL. */
struct carrier *carrier_of_tid(int tid);

/* After fork(), in the child. */
void carriers_reset(void);

#endif /* THREADS_CARRIER_H */

/* SPDX-License-Identifier: MIT */
/*
 * Shared by the hostile tests.  run_batch() is the kernel's batch() here, without the
 * library in between; or the library's device engine.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <pthread.h>

#include "tests/lib/conformance/contract/suite.h"
#include "tests/lib/differential/random.h"

/** FERRY_SYSCALL or FERRY_DEVICE: the engine under attack. */
extern enum ferry_engine engine;

/** Whether this is the full run. */
extern bool full_run;

/** The seed of all random choices; printed at the start. */
extern uint64_t seed;

/** A number of repetitions: QUICK, or FULL in the full run. */
static inline int times(int quick, int full)
{
	return full_run ? full : quick;
}

/** A generator for PURPOSE, which depends on the seed. */
static inline struct random random_new(uint64_t purpose)
{
	return random_for(seed, purpose);
}

/** Lets the calling child run for SECONDS; 0 means for ever. */
static inline void patience(unsigned int seconds)
{
	alarm(seconds);
}

/** A page for slots or results: readable, writable, zero. */
void *new_page(void);

/** The result of a slot of zeros: read() of /dev/null as descriptor 0, or io_setup() elsewhere. */
static inline long result_of_zeros(void)
{
	expect_equal(dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0), 0);
	return ferry_rawcall(0, 0, 0, 0, 0, 0, 0);
}

/** Waits until process PID sleeps in a call.  Fails if it does not. */
void expect_asleep(pid_t pid);

/** Fails unless signal SIG ended PID. */
void expect_killed_by(pid_t pid, int sig);

/** Starts a thread, or fails. */
pthread_t thread_start(void *(*body)(void *), void *arg);

#endif /* HOSTILE_H */

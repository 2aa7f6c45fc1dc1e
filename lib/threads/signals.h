/* SPDX-License-Identifier: MIT */
/* Signals of carried threads, and the masks of carriers. */
#ifndef THREADS_SIGNALS_H
#define THREADS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "thread.h"

struct carrier;

/* Blocks all signals but those that a home must take.  Returns the mask that it replaces. */
uint64_t signals_block(void);

void signals_set(uint64_t mask);

/* The mask of the calling kernel thread: more is blocked in a handler. */
uint64_t signals_mask(void);

/* Of the calling kernel thread, and of the process. */
uint64_t signals_pending(void);

/* The signal stack of the calling kernel thread; of size 0 without one. */
struct signal_stack signals_stack(void);

/* Gives a carrier the mask and the signal stack of a thread that it is about to run. */
void signals_follow(struct carrier *carrier, const struct thread *thread);

/* HANDLER is about to be installed for SIGNAL. */
void signals_note(int signal, sighandler_t handler);

/* Whether a handler is about to run, with MASK, that ends a call. */
bool signals_end_call(uint64_t mask, bool restarts);

/* A signal was sent to the process: a carried thread may be the one to take it. */
void signals_arrived(void);

/* Has carriers answer libc's signal for set*id() with their own thread pointers. */
void signals_start(void);

/* libc has cancelled THREAD: if a carrier runs it, the carrier takes libc's signal. */
void signals_cancel(const struct thread *thread);

/* Sends the calling thread a signal that the kernel would have sent it for its call. */
void signals_raise(int signal);

#endif /* THREADS_SIGNALS_H */

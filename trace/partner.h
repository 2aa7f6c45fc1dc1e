/* SPDX-License-Identifier: MIT */
#ifndef TRACE_PARTNER_H
#define TRACE_PARTNER_H

#include <pthread.h>
#include <stdbool.h>

/** A thread that sends back each byte that it gets, to take turns with. */
struct partner {
	int there[2], back[2]; /* pipes to it, and from it */
	pthread_t thread;
};

/** Starts it, on the CPUs of the caller: 0 or -errno. */
int partner_start(struct partner *partner);

/** Sends it a byte, and waits for it to come back: false if the partner is gone. */
bool partner_take_turn(const struct partner *partner);

void partner_end(struct partner *partner);

#endif /* TRACE_PARTNER_H */

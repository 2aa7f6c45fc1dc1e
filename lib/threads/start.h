/* SPDX-License-Identifier: MIT */
/* Whether the layer can work here, and starting it when the first thread is worth carrying. */
#ifndef THREADS_START_H
#define THREADS_START_H

#include <stdbool.h>

/* Why no thread can be carried in this process, or NULL. */
const char *start_refusal(void);

/* Starts carriers and the monitor, once.  False if that is not possible. */
bool start_layer(void);

/* How often a thread waits before it is carried; 0: it is from the start. */
unsigned int start_waits(void);

#endif /* THREADS_START_H */

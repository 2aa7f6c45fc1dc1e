/* SPDX-License-Identifier: MIT */
/* Moments in which a thread has descriptors open that the program did not ask for. */
#ifndef UNSEEN_H
#define UNSEEN_H

#include <stdbool.h>

/*
 * From ferry__unseen_begin() to ferry__unseen_end() the thread handles no signal, so no handler can
 * leave the code between them for good, and fork() in another thread waits.  False, with no effect:
 * a thread forks, or this is a child of vfork().
 */
bool ferry__unseen_begin(unsigned long *signals);
void ferry__unseen_end(unsigned long signals);

/* Whether this process uses the memory of another, as a child of vfork() does. */
bool ferry__in_foreign_memory(void);

#endif /* UNSEEN_H */

/* SPDX-License-Identifier: MIT */
/* Sleeping on words of private memory, and waking those who do. */
#ifndef FLEXSC_FUTEX_H
#define FLEXSC_FUTEX_H

#define NO_TIMEOUT (-1L)

/** Sleeps while *WORD is VALUE, for TIMEOUT_NS at most; may return early for no reason. */
void ferry__futex_wait(unsigned int *word, unsigned int value, long timeout_ns);

void ferry__futex_wake_all(unsigned int *word);

#endif /* FLEXSC_FUTEX_H */

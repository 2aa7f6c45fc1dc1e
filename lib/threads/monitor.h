/* SPDX-License-Identifier: MIT */
/* A thread that looks after carriers that are held by one of the program's threads. */
#ifndef THREADS_MONITOR_H
#define THREADS_MONITOR_H

/* Returns 0 or an errno. */
int monitor_start(void);

/* There is work again: the monitor sleeps while all carriers are idle. */
void monitor_wake(void);

/* After fork(), in the child. */
void monitor_reset(void);

#endif /* THREADS_MONITOR_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between flexsc_serve() and the scheduler: before a thread that serves sleeps in
 * a call, its process is told, so that another thread can make the calls that are behind.
 */
#ifndef _LINUX_FERRY_SCHED_H
#define _LINUX_FERRY_SCHED_H

#include <linux/sched.h>

#define FERRY_REPORTS_SLEEP 1

/* The next sleep of current, a user thread, is reported for SERVER; or with NULL not. */
static inline void ferry_report_sleep(void *server)
{
	current->worker_private = server;
}

#ifdef CONFIG_FERRY_FLEXSC
void ferry_flexsc_sleeps(void *server);
#else
static inline void ferry_flexsc_sleeps(void *server)
{
}
#endif

#endif /* _LINUX_FERRY_SCHED_H */

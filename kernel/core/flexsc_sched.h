/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between flexsc_serve() and the scheduler: before a thread that serves sleeps in
 * a call, its process is told, so that another thread can make the calls that are behind.
 */
#ifndef _LINUX_FLEXSC_SCHED_H
#define _LINUX_FLEXSC_SCHED_H

#include <linux/sched.h>

#define FLEXSC_REPORTS_SLEEP 1

/* The next sleep of current, a user thread, is reported for SERVER; or with NULL not. */
static inline void flexsc_report_sleep(void *server)
{
	current->worker_private = server;
}

#ifdef CONFIG_SUBCALL_FLEXSC
void flexsc_sleeps(void *server);
#else
static inline void flexsc_sleeps(void *server)
{
}
#endif

#endif /* _LINUX_FLEXSC_SCHED_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Stock schedulers report nothing. */
#ifndef _FERRY_COMPAT_SCHED_H
#define _FERRY_COMPAT_SCHED_H

#define FERRY_REPORTS_SLEEP 0

static inline void ferry_report_sleep(void *server)
{
}

void ferry_flexsc_sleeps(void *server);

#endif /* _FERRY_COMPAT_SCHED_H */

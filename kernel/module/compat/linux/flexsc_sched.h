/* SPDX-License-Identifier: GPL-2.0 */
/* Stock schedulers report nothing. */
#ifndef _FERRY_COMPAT_SCHED_H
#define _FERRY_COMPAT_SCHED_H

#define FLEXSC_REPORTS_SLEEP 0

static inline void flexsc_report_sleep(void *server)
{
}

void flexsc_sleeps(void *server);

#endif /* _FERRY_COMPAT_SCHED_H */

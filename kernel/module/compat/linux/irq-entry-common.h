/* SPDX-License-Identifier: GPL-2.0 */
/* Before Linux 6.17, work at the exit to user space is the architecture's own. */
#if __has_include_next(<linux/irq-entry-common.h>)
#include_next <linux/irq-entry-common.h>
#else
#include <linux/thread_info.h>
#define EXIT_TO_USER_MODE_WORK _TIF_WORK_MASK
#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FERRY_RESTART_H
#define _FERRY_RESTART_H

#include <linux/types.h>

/*
 * Whether a call that ended with CODE, one of -ERESTART*, is restarted after the
 * pending signals have been handled.  If not, it ends with -EINTR.
 */
bool ferry_call_restarts(long code);

/* Whether a pending signal is about to end the process. */
bool ferry_signal_kills(void);

#endif /* _FERRY_RESTART_H */

/* SPDX-License-Identifier: MIT */
/* The runner's loop in user space, which does what flexsc_serve() does in the kernel. */
#ifndef FLEXSC_SERVE_H
#define FLEXSC_SERVE_H

#include <stdbool.h>

#include <linux/flexsc.h>

/**
 * Makes the calling thread the runner of SET until its gate says STOP.  True if it leaves because
 * nothing has been posted for half a second, which it does while *IS_SPARE (atomic).
 */
bool ferry__flexsc_serve(struct flexsc_set *set, int limit, const bool *is_spare);

/**
 * Makes the call that the kernel's runner, which was this thread, has left begun with ANSWER, and
 * completes it.  After -EINTR a handler ended the call.  False if there is none.
 */
bool ferry__flexsc_make_begun(struct flexsc_set *set, long answer);

#endif /* FLEXSC_SERVE_H */

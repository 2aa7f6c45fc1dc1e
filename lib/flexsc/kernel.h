/* SPDX-License-Identifier: MIT */
/* Runners in the kernel, by the patch series' system call or the module's device. */
#ifndef FLEXSC_KERNEL_H
#define FLEXSC_KERNEL_H

#include <stdbool.h>

#include <linux/flexsc.h>

/* Where a runner runs. */
enum flexsc_place { IN_USER, IN_SYSCALL, IN_DEVICE };

/**
 * The place that $FERRY_FLEXSC_RUNNER names, or the best one for this thread, and the kernel's
 * *FEATURES there.  -EINVAL for another name, or -errno if the named place is not available.
 */
int ferry__flexsc_choose_place(long *features);

/**
 * ferry__flexsc_serve(), in the kernel if it can.  In user space it refuses calls above LIMIT, of
 * enum call_who.
 */
bool ferry__flexsc_serve_at(enum flexsc_place place, struct flexsc_set *set, int limit,
			    const bool *is_spare);

#endif /* FLEXSC_KERNEL_H */

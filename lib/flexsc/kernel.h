/* SPDX-License-Identifier: MIT */
/* The kernel's runners: of the patch series' system call, or of the module's device. */
#ifndef FLEXSC_KERNEL_H
#define FLEXSC_KERNEL_H

#include <linux/ferry_flexsc.h>

/* Where a runner stays. */
enum flexsc_place { IN_USER, IN_SYSCALL, IN_DEVICE };

/**
 * The place that $FERRY_FLEXSC_RUNNER names, or the best there is for this thread; and the
 * kernel's *FEATURES there.  -EINVAL for another name, or -errno when the named one is not there.
 */
int ferry__flexsc_choose_place(long *features);

/** Makes the calling thread the runner of SET until its gate says STOP, in the kernel if it can. */
void ferry__flexsc_serve_at(enum flexsc_place place, struct ferry_flexsc_set *set);

#endif /* FLEXSC_KERNEL_H */

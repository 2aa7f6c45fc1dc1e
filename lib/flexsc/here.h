/* SPDX-License-Identifier: MIT */
/* Calls that the calling thread makes itself, and by which it may confine itself. */
#ifndef FLEXSC_HERE_H
#define FLEXSC_HERE_H

#include <stdbool.h>
#include <sys/uio.h>

#include <linux/ferry.h>

#ifndef RWF_NOWAIT /* musl before 1.2.5 */
#include <linux/fs.h>
#endif

/** Makes call NR: -ENOSYS for one that no batch makes. */
long ferry__call_here(long nr, const __s64 arg[]);

/**
 * Makes call NR if it certainly does not wait, not even for the disk; else returns false.
 */
bool ferry__call_without_waiting(long nr, const __s64 arg[], long *result);

long ferry__batch_here(long rets[], const struct ferry_slot calls[], unsigned long ncall);

#endif /* FLEXSC_HERE_H */

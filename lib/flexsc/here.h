/* SPDX-License-Identifier: MIT */
/* Calls that the calling thread makes itself, and by which it may confine itself. */
#ifndef FLEXSC_HERE_H
#define FLEXSC_HERE_H

#include <linux/ferry.h>

/** Makes call NR: -ENOSYS for one that no batch makes. */
long ferry__call_here(long nr, const __s64 arg[]);

long ferry__batch_here(long rets[], const struct batch_slot calls[], unsigned long ncall);

#endif /* FLEXSC_HERE_H */

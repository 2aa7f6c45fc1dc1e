/* SPDX-License-Identifier: MIT */
/* The loop of <ferry/loop.h> with an empty function in place of the system call. */
#ifndef DISPATCH_MACHINE_H
#define DISPATCH_MACHINE_H

#include <linux/ferry.h>

long dispatch(long rets[], const struct ferry_slot calls[], unsigned long ncall);

#endif /* DISPATCH_MACHINE_H */

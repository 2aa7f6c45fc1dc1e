/* SPDX-License-Identifier: MIT */
/* The test module, measure/guest-module: what it measures in the kernel. */
#ifndef TEST_MODULE_H
#define TEST_MODULE_H

#include <linux/ferry.h>

/** A descriptor of the module's device, or -1 where it is not loaded. */
int test_module(void);

/**
 * Instructions that the handler of the call in SLOT takes, called directly in the kernel; NAN
 * without the module, or where the clock does not count instructions.
 */
double handler_cost(const struct batch_slot *slot);

/** Instructions, or ticks of the TSC, to read the counters of kstats() in the kernel; or NAN. */
double counters_cost(void);

#endif /* TEST_MODULE_H */

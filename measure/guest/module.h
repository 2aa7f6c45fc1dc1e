/* SPDX-License-Identifier: MIT */
/* The test module, from user space; see module/. */
#ifndef MODULE_H
#define MODULE_H

#include "measure/guest-module/ferry_bench.h"

/** A descriptor of the module's device, or -1 when it is not loaded. */
int module_descriptor(void);

#endif /* MODULE_H */

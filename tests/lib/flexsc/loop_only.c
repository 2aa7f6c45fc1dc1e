// SPDX-License-Identifier: MIT
/* The engines that flexsc needs, without io_uring: cross compilers have no liburing. */
#include <errno.h>

#include <ferry.h>
#include <ferry/loop.h>

#include "lib/engine/device.h"

int ferry__device_descriptor(void)
{
	return -ENOENT;
}

long ferry_batch(long rets[], const struct ferry_slot calls[], unsigned long ncall, long flags,
		 long size)
{
	(void)flags;
	(void)size;
	return ferry_loop(rets, calls, ncall);
}

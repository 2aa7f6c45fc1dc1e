// SPDX-License-Identifier: MIT
#include "module.h"

#include <fcntl.h>

int module_descriptor(void)
{
	static int descriptor = -2; /* not tried yet */

	if (descriptor == -2)
		descriptor = open(FERRY_BENCH_DEVICE, O_RDWR | O_CLOEXEC);
	return descriptor;
}

// SPDX-License-Identifier: MIT
/* Where elfutils' libdw was missing when ferry was built. */
#include "unwind.h"

const char *stacks_missing(void)
{
	return "this ferry was built without libdw; install the package libdw-dev, then run: make "
	       "clean build";
}

size_t unwind(const struct user_stack *stack, struct frame frames[], size_t most)
{
	(void)stack;
	(void)frames;
	(void)most;
	return 0;
}

void unwind_end(void)
{
}

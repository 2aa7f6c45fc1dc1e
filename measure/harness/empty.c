// SPDX-License-Identifier: MIT
#include "empty.h"

void empty_function(void)
{
}

long empty_call(long nr, long a, long b, long c, long d, long e, long f)
{
	(void)nr;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)e;
	(void)f;
	return 0;
}

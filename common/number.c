// SPDX-License-Identifier: MIT
#include "number.h"

#include <errno.h>
#include <stdlib.h>

bool read_number(const char *text, long least, long most, long *number)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least || value > most)
		return false;
	*number = value;
	return true;
}

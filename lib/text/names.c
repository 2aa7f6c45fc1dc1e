// SPDX-License-Identifier: MIT
/* The names that the system gives: calls, constants, errors. */
#include <limits.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

int call_number(struct span name)
{
	char copy[CALL_NAME_SIZE];
	int nr;

	if (name.length >= sizeof(copy))
		return -1;
	memcpy(copy, name.start, name.length);
	copy[name.length] = '\0';
	nr = seccomp_syscall_resolve_name(copy);
	/* Negative: unknown, or a pseudo number of a call of other architectures. */
	return nr >= 0 && nr <= SHRT_MAX ? nr : -1;
}

bool system_call_name(int nr, char name[CALL_NAME_SIZE])
{
	char *found = nr < 0 ? NULL : seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
	bool usable = found && strlen(found) < CALL_NAME_SIZE &&
		      call_number((struct span){ found, strlen(found) }) == nr;

	if (usable)
		snprintf(name, CALL_NAME_SIZE, "%s", found);
	free(found);
	return usable;
}

const char *call_name(short nr, char name[CALL_NAME_SIZE])
{
	if (nr == FERRY_NR_WDCPY)
		snprintf(name, CALL_NAME_SIZE, "copy");
	else if (nr == NR_GOTO)
		snprintf(name, CALL_NAME_SIZE, "goto");
	else if (!system_call_name(nr, name))
		snprintf(name, CALL_NAME_SIZE, "%d", nr);
	return name;
}

static int compare(const void *key, const void *element)
{
	const struct span *name = key;
	const struct constant *constant = element;
	int order = strncmp(name->start, constant->name, name->length);

	return order ? order : -(constant->name[name->length] != '\0');
}

bool constant_value(struct span name, long *value)
{
	const struct constant *found =
		bsearch(&name, constants, constant_count, sizeof(*constants), compare);

	if (found)
		*value = found->value;
	return found;
}

const char *errno_name(long error)
{
	size_t i;

	for (i = 0; i < error_count; i++)
		if (-errors[i].value == error)
			return errors[i].name;
	return NULL;
}

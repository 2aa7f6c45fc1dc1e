// SPDX-License-Identifier: MIT
#include "own_directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

int own_path(char path[PATH_MAX])
{
	/* What was executed; relative to the working directory, which ferry does not change. */
	const char *executed = (const char *)getauxval(AT_EXECFN);

	if (!realpath("/proc/self/exe", path) && (!executed || !realpath(executed, path)))
		return -errno;
	return 0;
}

int own_directory(char directory[PATH_MAX])
{
	int error = own_path(directory);

	if (!error)
		*strrchr(directory, '/') = '\0';
	return error;
}

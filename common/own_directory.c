// SPDX-License-Identifier: MIT
#include "own_directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "memory.h"

int own_path(char path[PATH_MAX])
{
	/* What was executed; relative to the working directory, which ferry does not change. */
	const char *executed = (const char *)getauxval(AT_EXECFN);

	if (!realpath("/proc/self/exe", path) && (!executed || !realpath(executed, path)))
		return -errno;
	return 0;
}

char *beside(const char *place)
{
	char path[PATH_MAX];

	if (own_path(path))
		return NULL;
	*strrchr(path, '/') = '\0';
	return keep_text("%s/%s", path, place);
}

char *find_example(const char *name)
{
	static const char *const places[] = { "../examples", "../libexec/ferry", "../measure" };
	char *path, found[PATH_MAX];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		path = beside(keep_text("%s/%s", places[i], name));
		if (path && realpath(path, found))
			return keep_text("%s", found);
	}
	return NULL;
}

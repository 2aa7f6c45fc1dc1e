// SPDX-License-Identifier: MIT
#include "examples.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/messages.h"
#include "common/own_directory.h"

bool is_wanted(const struct settings *settings, const char *name)
{
	size_t i;

	for (i = 0; i < settings->apps.count; i++)
		if (!strcmp(settings->apps.of[i], name))
			return true;
	return !settings->apps.count;
}

char *find_example(const char *name)
{
	static const char *const places[] = { "../examples", "../libexec/ferry", "../measure" };
	char directory[PATH_MAX], found[PATH_MAX];
	size_t i;

	if (own_directory(directory))
		return NULL;
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (realpath(keep_text("%s/%s/%s", directory, places[i], name), found))
			return keep_text("%s", found);
	return NULL;
}

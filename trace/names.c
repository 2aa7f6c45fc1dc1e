// SPDX-License-Identifier: MIT
#include "names.h"

#include <string.h>

#include "call.h"
#include "common/memory.h"
#include "lib/text/text.h"

const char *name_of_call(int nr)
{
	static const char *names[CALL_OTHER]; /* that were asked for */
	char name[CALL_NAME_SIZE];

	if (nr == CALL_OTHER)
		return "(no native number)";
	if (!names[nr])
		names[nr] = keep_text("%s", call_name((short)nr, name));
	return names[nr];
}

bool is_among(const char *name, const char *const names[])
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

bool is_device(const char *path)
{
	static const char devices[] = "/dev/", files[] = "/dev/shm/";

	return !strncmp(path, devices, strlen(devices)) && strncmp(path, files, strlen(files)) != 0;
}

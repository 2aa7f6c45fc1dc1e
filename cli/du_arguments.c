// SPDX-License-Identifier: MIT
#include "du_arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "du_messages.h"

/* As GNU du: of several slashes at the end, one stays. */
static void trim_slashes(char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/' && path[length - 2] == '/')
		path[--length] = '\0';
}

static void add(struct du_arguments *arguments, char *path)
{
	trim_slashes(path);
	arguments->paths = (char **)keep_more((void *)arguments->paths, arguments->count,
					      sizeof(*arguments->paths));
	arguments->paths[arguments->count++] = path;
}

struct du_arguments du_arguments_of(char *words[], size_t count)
{
	static char here[] = ".";
	struct du_arguments arguments = { .is_known = true, .complete = true };
	size_t i;

	if (!count)
		add(&arguments, here);
	for (i = 0; i < count; i++) {
		if (*words[i]) {
			add(&arguments, words[i]);
			continue;
		}
		du_complain("invalid zero-length file name");
		arguments.complete = false;
	}
	return arguments;
}

/* The name with NUMBER, from 1 on, in the file PATH. */
static void add_from(struct du_arguments *arguments, const char *path, const char *name,
		     size_t number)
{
	if (!*name)
		du_complain("%s:%zu: invalid zero-length file name", du_quoted_if_needed(path),
			    number);
	else if (!strcmp(path, "-") && !strcmp(name, "-"))
		du_complain("when reading file names from standard input, no file name of '-' "
			    "allowed");
	else {
		add(arguments, keep_text("%s", name));
		return;
	}
	arguments->complete = false;
}

bool du_arguments_from(struct du_arguments *arguments, const char *path)
{
	const bool is_standard = !strcmp(path, "-");
	FILE *file = is_standard ? stdin : fopen(path, "re");
	size_t room = 0, number = 0;
	char *name = NULL;

	*arguments = (struct du_arguments){ .complete = true };
	if (!file) {
		du_complain("cannot open %s for reading: %s", du_quoted(path), strerror(errno));
		return false;
	}
	while (getdelim(&name, &room, '\0', file) > 0)
		add_from(arguments, path, name, ++number);
	free(name);
	if (ferror(file)) {
		du_complain("%s: read error: %s", du_quoted_if_needed(path), strerror(errno));
		arguments->complete = false;
	}
	if (!is_standard)
		fclose(file);
	return true;
}

// SPDX-License-Identifier: MIT
/* What goes to standard output besides tables. */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "messages.h"

bool is_terminal(int descriptor)
{
	const char *kind = getenv("TERM");

	return isatty(descriptor) && !(kind && !strcmp(kind, "dumb"));
}

void print_json(json_t *json)
{
	if (!json) {
		complain("out of memory");
		exit(EXIT_USAGE);
	}
	json_dumpf(json, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(json);
}

void keep_output(struct kept_output *kept)
{
	*kept = (struct kept_output){ .standard = stdout };
	stdout = open_memstream(&kept->text, &kept->length);
	if (stdout)
		return;
	stdout = kept->standard;
	complain("out of memory");
	exit(EXIT_USAGE);
}

int write_kept(struct kept_output *kept, const char *path)
{
	int error;

	fclose(stdout);
	stdout = kept->standard;
	error = write_file(path, kept->text, kept->length);
	free(kept->text);
	return error;
}

int finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	complain("standard output: %s", strerror(errno));
	return -errno;
}

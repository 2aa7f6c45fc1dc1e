// SPDX-License-Identifier: MIT
/* The files that a run leaves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"

static void temporary_of(const char *path, char temporary[])
{
	snprintf(temporary, PATH_MAX, "%.4000s.new", path);
}

void fail_on(const char *path)
{
	fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
	exit(2);
}

void check_place(const char *path)
{
	char temporary[PATH_MAX];
	FILE *file;

	if (!path || !strcmp(path, "-"))
		return;
	temporary_of(path, temporary);
	file = fopen(temporary, "we");
	if (!file || fclose(file))
		fail_on(temporary);
}

static void write_file(const char *path, void (*print)(FILE *))
{
	char temporary[PATH_MAX];
	FILE *file;

	if (!strcmp(path, "-")) {
		print(stdout);
		return;
	}
	temporary_of(path, temporary);
	file = fopen(temporary, "we");
	if (file)
		print(file);
	if (!file || fclose(file) || rename(temporary, path))
		fail_on(temporary);
}

static void print_kept(FILE *file)
{
	unsigned int i;

	fputs("# SPDX-License-Identifier: MIT\n"
	      "# Programs that together reach all places known to be reached; fuzz --keep wrote "
	      "this.\n",
	      file);
	for (i = 0; i < shared->count; i++) {
		if (shared->entries[i].is_kept) {
			line_print(&shared->entries[i].line, file);
			fputc('\n', file);
		}
	}
}

static void print_reached(FILE *file)
{
	coverage_write(&shared->all, file);
}

void write_kept(const char *path)
{
	write_file(path, print_kept);
}

void write_reached(const char *path)
{
	write_file(path, print_reached);
}

// SPDX-License-Identifier: MIT
#include "options.h"

#include <err.h>
#include <getopt.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "sweep.h"

#define USAGE_ERROR 2
#define DEFAULT_PASSES 5

static int read_passes(const char *text)
{
	char *end;
	long passes = strtol(text, &end, 10);

	if (*end || passes < 1 || passes > MAX_PASSES)
		errx(USAGE_ERROR, "--passes is '%s', and must be 1 to %d", text, MAX_PASSES);
	return (int)passes;
}

struct options read_options(int argc, char *argv[], const char *usage)
{
	static const struct option known[] = {
		{ "passes", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options options = { .passes = DEFAULT_PASSES };
	int letter;

	while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (letter == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		if (letter != 'p') {
			fputs(usage, stderr);
			exit(USAGE_ERROR);
		}
		options.passes = read_passes(optarg);
	}
	if (argc > optind + 1)
		errx(USAGE_ERROR, "'%s' is one argument too many", argv[optind + 1]);
	options.directory = argv[optind];
	return options;
}

void enter_tmpfs(const char *directory)
{
	struct statfs fs;

	if (!directory)
		directory = "/tmp";
	if (chdir(directory) || statfs(".", &fs))
		err(EXIT_FAILURE, "cannot enter '%s'", directory);
	if (fs.f_type != TMPFS_MAGIC)
		errx(EXIT_FAILURE, "'%s' is not on a tmpfs, which the figures are for", directory);
}

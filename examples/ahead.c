// SPDX-License-Identifier: MIT
/* ahead: sums the bytes of a file while a runner reads the next blocks of it. */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ferry_flexsc.h>

#include "common.h"

static const char help[] =
	"Usage: ahead FILE\n"
	"Prints the sum of all bytes in a regular file, each taken as 0 to 255.\n\n"
	"Example: ahead /usr/bin/env\n";

enum { BLOCKS = 8, SIZE = 65536 };

static unsigned char blocks[BLOCKS][SIZE];

static long post_read(struct ferry_flexsc *flexsc, long fd, long block)
{
	const long args[] = { fd, (long)blocks[block % BLOCKS], SIZE, block * SIZE };

	return ferry_flexsc_post(flexsc, SYS_pread64, args, 4);
}

int main(int argc, char *argv[])
{
	long tickets[BLOCKS], block, total = 0, length = 1, error, fd, i;
	struct ferry_flexsc *flexsc;
	const char *path;

	next_option(argc, argv, "", help);
	if (optind != argc - 1)
		usage_error("not one FILE given");
	path = argv[optind];
	begin();
	error = ferry_flexsc_start(&flexsc, NULL);
	if (error)
		errx(1, "cannot start a runner: %s", strerror((int)-error));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "cannot open '%s'", path);
	for (block = 0; block < BLOCKS; block++)
		tickets[block] = post_read(flexsc, fd, block);
	for (; length; block++) {
		length = ferry_flexsc_wait(flexsc, tickets[block % BLOCKS]);
		if (length < 0)
			errx(1, "cannot read '%s': %s", path, strerror((int)-length));
		for (i = 0; i < length; i++)
			total += blocks[block % BLOCKS][i];
		tickets[block % BLOCKS] = post_read(flexsc, fd, block);
	}
	ferry_flexsc_stop(flexsc);
	printf("%ld\n", total);
	return finish(0);
}

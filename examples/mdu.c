// SPDX-License-Identifier: MIT
/* mdu: prints the totals of file trees like du -sbl, using batches of statx. */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "tree.h"

static const char help[] =
	"Usage: mdu [-b | -s] [-x] [FILE...]\n"
	"Prints the size of each FILE and of everything below it: apparent bytes, 512-byte\n"
	"blocks on disk, name.  FILE defaults to .; symbolic links are not followed.\n"
	"\n"
	"  -b      only bytes, like du -sbl before coreutils 9.2 (du now omits the bytes of\n"
	"          the directories themselves)\n"
	"  -s      only blocks, like du -sl --block-size=512\n"
	"  -x      skip other file systems\n"
	"  --help  print this\n"
	"\n"
	"A file with several links counts every time, as with du -l.  If something cannot be\n"
	"read, it is named on standard error and the exit status is 1.\n"
	"\n"
	"Example: mdu -b /usr/share/doc /usr/include\n";

struct totals {
	uint64_t bytes;
	uint64_t blocks;
	bool failed;
};

static void add(void *context, const char *dir, const char *name, const struct statx *stat)
{
	struct totals *totals = context;

	(void)dir;
	(void)name;
	totals->bytes += stat->stx_size;
	totals->blocks += stat->stx_blocks;
}

static void complain(void *context, const char *action, const char *dir, const char *name,
		     int error)
{
	struct totals *totals = context;

	totals->failed = true;
	warnx("cannot %s '%s%s': %s", action, dir, name, strerror(error));
}

static void print(const struct totals *totals, bool bytes, bool blocks, const char *path)
{
	if (bytes)
		printf("%" PRIu64 "\t", totals->bytes);
	if (blocks)
		printf("%" PRIu64 "\t", totals->blocks);
	puts(path);
}

int main(int argc, char *argv[])
{
	static char here[] = ".";
	char *only_here[] = { here, NULL };
	struct totals totals = { 0 };
	struct tree_visitor visitor = { .entry = add, .failed = complain, .context = &totals };
	bool bytes = true, blocks = true;
	struct tree *tree;
	char **path;
	int letter;

	while ((letter = next_option(argc, argv, "bsx", help)) != -1) {
		if (letter == 'b')
			blocks = false;
		else if (letter == 's')
			bytes = false;
		else
			visitor.one_file_system = true;
	}
	if (!bytes && !blocks)
		usage_error("-b and -s exclude each other");
	begin();
	tree = tree_new(&visitor);
	if (!tree)
		errx(EXIT_FAILURE, "out of memory");
	for (path = optind < argc ? argv + optind : only_here; *path; path++) {
		totals.bytes = totals.blocks = 0;
		if (tree_walk(tree, *path))
			errx(EXIT_FAILURE, "out of memory");
		print(&totals, bytes, blocks, *path);
	}
	tree_free(tree);
	return finish(totals.failed ? EXIT_FAILURE : EXIT_SUCCESS);
}

// SPDX-License-Identifier: MIT
/* ftw: prints the size and path of everything in file trees, using batches of statx. */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "tree.h"

static const char help[] =
	"Usage: ftw [-0] [-x] [FILE...]\n"
	"Prints the apparent size in bytes, a tab and the path of each FILE and of everything\n"
	"below it, like find -printf '%s\\t%p\\n': each directory comes before its entries.\n"
	"FILE defaults to .; symbolic links are not followed.\n"
	"\n"
	"  -0      end each line with a NUL, not a newline\n"
	"  -x      skip other file systems\n"
	"  --help  print this\n"
	"\n"
	"If something cannot be read, it is named on standard error and the exit status is 1.\n"
	"\n"
	"Example: ftw /usr/share | sort -rn | head\n";

struct listing {
	char end;
	bool failed;
};

static void print(void *context, const char *dir, const char *name, const struct statx *stat)
{
	const struct listing *listing = context;

	printf("%" PRIu64 "\t%s%s%c", (uint64_t)stat->stx_size, dir, name, listing->end);
	if (ferror_unlocked(stdout))
		exit(finish(EXIT_FAILURE));
}

static void complain(void *context, const char *action, const char *dir, const char *name,
		     int error)
{
	struct listing *listing = context;

	listing->failed = true;
	warnx("cannot %s '%s%s': %s", action, dir, name, strerror(error));
}

int main(int argc, char *argv[])
{
	static char here[] = ".";
	char *only_here[] = { here, NULL };
	struct listing listing = { .end = '\n' };
	struct tree_visitor visitor = { .entry = print, .failed = complain, .context = &listing };
	struct tree *tree;
	char **path;
	int letter;

	while ((letter = next_option(argc, argv, "0x", help)) != -1) {
		if (letter == '0')
			listing.end = '\0';
		else
			visitor.one_file_system = true;
	}
	begin();
	tree = tree_new(&visitor);
	if (!tree)
		errx(EXIT_FAILURE, "out of memory");
	for (path = optind < argc ? argv + optind : only_here; *path; path++)
		if (tree_walk(tree, *path))
			errx(EXIT_FAILURE, "out of memory");
	tree_free(tree);
	return finish(listing.failed ? EXIT_FAILURE : EXIT_SUCCESS);
}

// SPDX-License-Identifier: MIT
/* pathsearch: finds the first directory of a list that contains a file, in one batch. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

static const char help[] =
	"Usage: pathsearch NAME [PATHLIST]\n"
	"Prints the first path DIR/NAME that exists.  DIR is taken from PATHLIST, directories\n"
	"separated by colons; an empty one is the current directory.  PATHLIST defaults to\n"
	"$PATH.\n"
	"\n"
	"  --help  print this\n"
	"\n"
	"Exit status: 0 if a path was found, 1 if not, 2 for wrong usage.\n"
	"\n"
	"Example: pathsearch linux/stat.h /usr/local/include:/usr/include\n";

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		errx(EXIT_FAILURE, "out of memory");
	return memory;
}

static size_t count_directories(const char *list)
{
	size_t count = 1;

	while ((list = strchr(list, ':'))) {
		list++;
		count++;
	}
	return count;
}

/* Joins LENGTH bytes of DIR, a '/' and NAME. */
static char *join(const char *dir, size_t length, const char *name)
{
	char *path;
	const char *slash = length && dir[length - 1] != '/' ? "/" : "";

	if (!length) {
		dir = "./";
		length = 2;
	}
	if (asprintf(&path, "%.*s%s%s", (int)length, dir, slash, name) < 0)
		errx(EXIT_FAILURE, "out of memory");
	return path;
}

/* One slot per directory of LIST.  The first that finds its path (result 0) ends the batch. */
static void fill(struct batch_slot calls[], size_t count, const char *name, const char *list)
{
	size_t i, length;

	for (i = 0; i < count; i++) {
		length = strcspn(list, ":");
		calls[i] = (struct batch_slot){
			.nr = SYS_faccessat,
			.jump_zero = -1,
			.argc = 3,
			.arg = { AT_FDCWD, (long)join(list, length, name), F_OK },
		};
		list += length + 1;
	}
}

/* Reports why paths were not found, for reasons other than that they do not exist. */
static void explain(const struct batch_slot calls[], const long results[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (results[i] != -ENOENT && results[i] != -ENOTDIR)
			warnx("'%s': %s", (const char *)calls[i].arg[1],
			      strerror((int)-results[i]));
}

static int search(const char *name, const char *list)
{
	size_t count = count_directories(list);
	struct batch_slot *calls = allocate(count, sizeof(*calls));
	long *results = allocate(count, sizeof(*results));
	unsigned long last;
	bool found;
	size_t i;

	fill(calls, count, name, list);
	last = run_batch(results, calls, count);
	found = !results[last];
	if (found)
		puts((const char *)calls[last].arg[1]);
	else
		explain(calls, results, count);
	for (i = 0; i < count; i++)
		free((void *)calls[i].arg[1]);
	free(calls);
	free(results);
	return found ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
	const char *list;

	next_option(argc, argv, "", help);
	if (argc - optind < 1 || argc - optind > 2)
		usage_error("%s", optind == argc ? "no NAME given" : "more than NAME and PATHLIST");
	list = optind + 1 < argc ? argv[optind + 1] : getenv("PATH");
	if (!list)
		usage_error("PATH is not set: give a PATHLIST");
	if (!*argv[optind])
		usage_error("NAME is empty");
	begin();
	return finish(search(argv[optind], list));
}

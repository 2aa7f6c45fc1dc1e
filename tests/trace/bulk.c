// SPDX-License-Identifier: MIT
/*
 * bulk stat|read DIR TURNS: the bulk calls of <ferry_files.h> on all names of a directory.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry_files.h>

#define NAMES 1024 /* at most */
#define ROOM 4096  /* bytes read of each file */

static const char *names[NAMES];

static size_t read_names(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	size_t count = 0;

	if (!directory)
		err(1, "%s", path);
	while (count < NAMES && (entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			names[count++] = strdup(entry->d_name);
	closedir(directory);
	return count;
}

static void stat_all(int directory, size_t count)
{
	static struct statx stats[NAMES];
	static int errors[NAMES];

	if (ferry_statx_many(directory, names, count, 0, STATX_BASIC_STATS, stats, errors, NULL))
		errx(1, "some attributes cannot be read");
}

static void read_all(int directory, size_t count)
{
	static struct ferry_file files[NAMES];
	static char data[NAMES][ROOM];
	size_t i;

	for (i = 0; i < count; i++)
		files[i] = (struct ferry_file){ .buffer = data[i], .room = ROOM };
	if (ferry_read_files(directory, names, count, 0, files, NULL, NULL))
		errx(1, "some files cannot be read");
}

int main(int argc, char *argv[])
{
	void (*what)(int directory, size_t count) = NULL;
	int directory, turns;
	size_t count;

	if (argc == 4 && !strcmp(argv[1], "stat"))
		what = stat_all;
	else if (argc == 4 && !strcmp(argv[1], "read"))
		what = read_all;
	if (!what)
		errx(2, "usage: bulk stat|read DIR TURNS");
	count = read_names(argv[2]);
	directory = open(argv[2], O_RDONLY | O_DIRECTORY);
	for (turns = atoi(argv[3]); turns; turns--)
		what(directory, count);
	return 0;
}

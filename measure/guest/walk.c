// SPDX-License-Identifier: MIT
/*
 * mdu on a tree of 20,000 files: its main(), in a child, on every engine and by io_uring.
 * Starting a program is left out, since that depends on the file system it lies on.
 */
#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ferry.h>

#include "count.h"
#include "mdu.h"
#include "options.h"
#include "sweep.h"

static const char usage[] =
	"Usage: walk [--passes N] [DIRECTORY]\n"
	"Makes a tree of 20,000 files below DIRECTORY (/tmp, on a tmpfs), and prints a JSON line\n"
	"per engine: the cost of mdu on that tree, from main() to its exit, in each of N (5)\n"
	"passes.\n"
	"\n"
	"Example: walk --passes 3 /dev/shm\n";

#define TREE "ferry-bench-tree"
#define OUTPUT "ferry-bench-output"
#define DIRECTORIES 100
#define FILES 200 /* in each */
#define OUTPUT_SIZE 256

struct way {
	const char *name;
	enum ferry_engine engine; /* of the library */
	bool by_uring;
	long costs[MAX_PASSES];
	char output[OUTPUT_SIZE];
};

static struct way ways[] = {
	{ "syscall", FERRY_SYSCALL, false, { 0 }, "" },
	{ "device", FERRY_DEVICE, false, { 0 }, "" },
	{ "loop", FERRY_LOOP, false, { 0 }, "" },
	{ "uring", FERRY_URING, true, { 0 }, "" },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void make_file(const char *path, int size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, size) || close(fd))
		err(EXIT_FAILURE, "cannot write %s", path);
}

static void make_tree(void)
{
	char path[64];
	int dir, file;

	if (mkdir(TREE, 0700))
		err(EXIT_FAILURE, "cannot make %s", TREE);
	for (dir = 0; dir < DIRECTORIES; dir++) {
		snprintf(path, sizeof(path), TREE "/%02d", dir);
		if (mkdir(path, 0700))
			err(EXIT_FAILURE, "cannot make %s", path);
		for (file = 0; file < FILES; file++) {
			snprintf(path, sizeof(path), TREE "/%02d/file%03d", dir, file);
			make_file(path, dir * file);
		}
	}
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static void remove_tree(void)
{
	nftw(TREE, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	unlink(OUTPUT);
}

static _Noreturn void run_mdu(const struct way *way, int output)
{
	char name[] = "mdu", bytes[] = "-b", tree[] = TREE;
	char *arguments[] = { name, bytes, tree, NULL };

	if (dup2(output, STDOUT_FILENO) < 0 || ferry_engine_use(way->engine))
		_exit(EXIT_FAILURE);
	batches_by_uring = way->by_uring;
	optind = 0; /* getopt starts anew */
	_exit(mdu_main(3, arguments));
}

static void run_once(struct way *way, int pass)
{
	char output[OUTPUT_SIZE] = "";
	int fd = open(OUTPUT, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t start;
	int status;
	pid_t child;

	if (fd < 0)
		err(EXIT_FAILURE, "cannot write " OUTPUT);
	start = count_now();
	child = fork();
	if (!child)
		run_mdu(way, fd);
	if (child < 0 || waitpid(child, &status, 0) != child)
		err(EXIT_FAILURE, "cannot run mdu on %s", way->name);
	way->costs[pass] = (long)(count_now() - start);
	if (status)
		errx(EXIT_FAILURE, "mdu on %s failed with status %#x", way->name, status);
	if (pread(fd, output, sizeof(output) - 1, 0) <= 0)
		errx(EXIT_FAILURE, "mdu on %s printed nothing", way->name);
	close(fd);
	memcpy(way->output, output, sizeof(output));
}

static bool is_here(const struct way *way)
{
	return !ferry_engine_probe(way->engine, NULL);
}

static void run_all(int pass)
{
	const char *first = NULL;
	size_t i;

	for (i = 0; i < WAYS; i++) {
		if (!is_here(&ways[i]))
			continue;
		run_once(&ways[i], pass);
		if (!first)
			first = ways[i].output;
		if (strcmp(first, ways[i].output) != 0)
			errx(EXIT_FAILURE, "mdu on %s says '%s' instead of '%s'", ways[i].name,
			     ways[i].output, first);
	}
}

static void print_way(const struct way *way, int passes)
{
	int pass;

	printf("{\"bench\":\"mdu\",\"unit\":\"%s\",\"files\":%d,\"engine\":\"%s\",\"cost\":[",
	       count_unit(), DIRECTORIES * FILES, way->name);
	for (pass = 0; pass < passes; pass++)
		printf("%s%ld", pass ? "," : "", way->costs[pass]);
	printf("]}\n");
}

int main(int argc, char *argv[])
{
	struct options options = read_options(argc, argv, usage);
	size_t i;
	int pass;

	enter_tmpfs(options.directory);
	remove_tree();
	make_tree();
	if (atexit(remove_tree))
		errx(EXIT_FAILURE, "out of memory");
	run_all(0); /* warms up; the next one overwrites it */
	for (pass = 0; pass < options.passes; pass++)
		run_all(pass);
	for (i = 0; i < WAYS; i++)
		if (is_here(&ways[i]))
			print_way(&ways[i], options.passes);
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

// SPDX-License-Identifier: MIT
/* total: sums the bytes of files; one batch opens, maps and closes each. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

static const char help[] =
	"Usage: total FILE...\n"
	"Prints the sum of all bytes in the files, each byte taken as 0 to 255.\n"
	"\n"
	"  --help  print this\n"
	"\n"
	"A FILE that cannot be read is named on standard error and not included in the sum; the\n"
	"exit status is then 1.\n"
	"\n"
	"Example: total /usr/include/*.h\n";

/* The batch for one file.  After a failure it continues at CLOSE, or ends if no file is open. */
enum { OPEN, STAT, COPY_SIZE, MAP, CLOSE, SLOTS };

/* The jump from slot FROM to slot TO. */
#define SKIP_TO(to, from) ((to) - (from)-1)

static sigjmp_buf shrunk;

/* A mapped page cannot be read: the file was truncated, or its disk failed. */
static void on_bus_error(int signal)
{
	(void)signal;
	siglongjmp(shrunk, 1);
}

static uint64_t sum(const unsigned char *bytes, size_t length)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < length; i++)
		total += bytes[i];
	return total;
}

static void complain(const char *path, const char *why)
{
	warnx("cannot read '%s': %s", path, why);
}

/* Opens, stats, maps and closes PATH; fills in STAT and the results[] of the slots. */
static void map_file(const char *path, struct stat *stat, long results[])
{
	struct batch_slot calls[SLOTS] = {
		[OPEN] = { .nr = SYS_openat,
			   .jump_fail = -1,
			   .argc = 3,
			   .arg = { AT_FDCWD, (long)path,
				    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC } },
		[STAT] = { .nr = SYS_fstat,
			   .jump_fail = SKIP_TO(CLOSE, STAT),
			   .argc = 2 | BATCH_ARGC_FORWARD,
			   .from = { STAT - OPEN },
			   .arg = { 0, (long)stat } },
		[COPY_SIZE] = { .nr = BATCH_WDCPY,
				.argc = 2,
				.arg = { (long)&calls[MAP].arg[1], (long)&stat->st_size } },
		[MAP] = { .nr = SYS_mmap,
			  .jump_fail = SKIP_TO(CLOSE, MAP),
			  .argc = 6 | BATCH_ARGC_FORWARD,
			  .from = { [4] = MAP - OPEN },
			  .arg = { 0, 0, PROT_READ, MAP_PRIVATE, 0, 0 } },
		[CLOSE] = { .nr = SYS_close,
			    .argc = 1 | BATCH_ARGC_FORWARD,
			    .from = { CLOSE - OPEN } },
	};

	run_batch(results, calls, SLOTS);
}

/* Adds the LENGTH bytes at MAP to *total, and unmaps them. */
static bool add_mapped(const char *path, void *map, size_t length, uint64_t *total)
{
	volatile bool whole = true; /* changed after sigsetjmp() */

	if (sigsetjmp(shrunk, 1)) {
		complain(path, "it was cut short meanwhile, or its disk fails");
		whole = false;
	} else {
		*total += sum(map, length);
	}
	munmap(map, length);
	return whole;
}

/* Adds the bytes of PATH to *total.  Returns false after a message if it cannot read them. */
static bool add_file(const char *path, uint64_t *total)
{
	long results[SLOTS] = { [MAP] = -ENODEV };
	struct stat stat;

	map_file(path, &stat, results);
	if (results[OPEN] < 0 || results[STAT] < 0) {
		complain(path, strerror((int)-(results[OPEN] < 0 ? results[OPEN] : results[STAT])));
		return false;
	}
	if (!S_ISREG(stat.st_mode)) {
		complain(path, S_ISDIR(stat.st_mode) ? "it is a directory" : "it is not a file");
		return false;
	}
	if (!stat.st_size)
		return true; /* an empty file cannot be mapped, so MAP failed */
	if (results[MAP] < 0) {
		complain(path, strerror((int)-results[MAP]));
		return false;
	}
	return add_mapped(path, (void *)results[MAP], (size_t)stat.st_size, total);
}

int main(int argc, char *argv[])
{
	struct sigaction action = { .sa_handler = on_bus_error };
	uint64_t total = 0;
	bool all = true;
	int i;

	next_option(argc, argv, "", help);
	if (optind == argc)
		usage_error("no FILE given");
	begin();
	sigaction(SIGBUS, &action, NULL);
	for (i = optind; i < argc; i++)
		all &= add_file(argv[i], &total);
	printf("%" PRIu64 "\n", total);
	return finish(all ? EXIT_SUCCESS : EXIT_FAILURE);
}

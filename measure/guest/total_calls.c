// SPDX-License-Identifier: MIT
/*
 * The calls that total makes for each file, in one crossing and otherwise.  Filling in
 * slots and requests counts, for a program does it anew for each file.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ferry/rawcall.h>

#include "count.h"
#include "engines.h"
#include "options.h"
#include "sweep.h"
#include "uring_files.h"

static const char usage[] =
	"Usage: total_calls [--passes N] [DIRECTORY]\n"
	"Prints a JSON line per engine: what the calls of total for a file of 4,096 bytes cost,\n"
	"in each of N (5) passes.  io_uring cannot map files, so reading is measured as well.\n"
	"DIRECTORY (/tmp) is on a tmpfs.\n"
	"\n"
	"Example: total_calls /dev/shm\n";

#define FILE_NAME "ferry-bench-total"
#define FILE_SIZE 4096
#define REPEATS 50
#define MAX_SIDES 16

static struct stat status;
static struct statx statx_status;
static char data[FILE_SIZE];
static long mapped; /* address of the last mapping, 0 when there is none */

/* One side: RUN makes the calls once, and returns how many bytes it came by. */
struct side_of_total {
	const char *calls;
	const char *engine;
	long (*run)(const struct engine *engine);
	const struct engine *on; /* NULL: not by an engine */
	long costs[MAX_PASSES];
};

/* ---- openat, fstat, mmap, close: as in examples/total.c ---- */

enum { OPEN, STAT, COPY_SIZE, MAP, CLOSE, MAP_SLOTS };

static long map_by_batch(const struct engine *engine)
{
	long results[MAP_SLOTS];
	struct ferry_slot calls[MAP_SLOTS] = {
		[OPEN] = { .nr = SYS_openat,
			   .jump_fail = -1,
			   .argc = 3,
			   .arg = { AT_FDCWD, (long)FILE_NAME, O_RDONLY | O_CLOEXEC } },
		[STAT] = { .nr = SYS_fstat,
			   .jump_fail = CLOSE - STAT - 1,
			   .argc = 2 | FERRY_ARGC_FORWARD,
			   .from = { STAT - OPEN },
			   .arg = { 0, (long)&status } },
		[COPY_SIZE] = { .nr = FERRY_NR_WDCPY,
				.argc = 2,
				.arg = { (long)&calls[MAP].arg[1], (long)&status.st_size } },
		[MAP] = { .nr = SYS_mmap,
			  .jump_fail = CLOSE - MAP - 1,
			  .argc = 6 | FERRY_ARGC_FORWARD,
			  .from = { [4] = MAP - OPEN },
			  .arg = { 0, 0, PROT_READ, MAP_PRIVATE, 0, 0 } },
		[CLOSE] = { .nr = SYS_close,
			    .argc = 1 | FERRY_ARGC_FORWARD,
			    .from = { CLOSE - OPEN } },
	};

	engine->run(results, calls, MAP_SLOTS);
	mapped = results[MAP];
	return status.st_size;
}

static long map_by_hand(const struct engine *engine)
{
	long fd =
		ferry_rawcall(SYS_openat, AT_FDCWD, (long)FILE_NAME, O_RDONLY | O_CLOEXEC, 0, 0, 0);

	(void)engine;
	if (fd < 0)
		return fd;
	if (ferry_rawcall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) < 0)
		return -1;
	mapped = ferry_rawcall(SYS_mmap, 0, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	return status.st_size;
}

/* ---- openat, statx, read, close: what io_uring has too ---- */

enum { READ_OPEN, READ_STAT, READ_READ, READ_CLOSE, READ_SLOTS };

static long read_by_batch(const struct engine *engine)
{
	long results[READ_SLOTS];
	struct ferry_slot calls[READ_SLOTS] = {
		[READ_OPEN] = { .nr = SYS_openat,
				.jump_fail = -1,
				.argc = 3,
				.arg = { AT_FDCWD, (long)FILE_NAME, O_RDONLY | O_CLOEXEC } },
		[READ_STAT] = { .nr = SYS_statx,
				.jump_fail = READ_CLOSE - READ_STAT - 1,
				.argc = 5,
				.arg = { AT_FDCWD, (long)FILE_NAME, 0, STATX_BASIC_STATS,
					 (long)&statx_status } },
		[READ_READ] = { .nr = SYS_read,
				.argc = 3 | FERRY_ARGC_FORWARD,
				.from = { READ_READ - READ_OPEN },
				.arg = { 0, (long)data, sizeof(data) } },
		[READ_CLOSE] = { .nr = SYS_close,
				 .argc = 1 | FERRY_ARGC_FORWARD,
				 .from = { READ_CLOSE - READ_OPEN } },
	};

	engine->run(results, calls, READ_SLOTS);
	return results[READ_READ];
}

static long read_by_hand(const struct engine *engine)
{
	long fd =
		ferry_rawcall(SYS_openat, AT_FDCWD, (long)FILE_NAME, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long length;

	(void)engine;
	if (fd < 0)
		return fd;
	if (ferry_rawcall(SYS_statx, AT_FDCWD, (long)FILE_NAME, 0, STATX_BASIC_STATS,
			  (long)&statx_status, 0) < 0)
		return -1;
	length = ferry_rawcall(SYS_read, fd, (long)data, sizeof(data), 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	return length;
}

static long read_by_uring(const struct engine *engine)
{
	(void)engine;
	return uring_read_file(FILE_NAME, &statx_status, data, sizeof(data));
}

static long read_by_uring_without_statx(const struct engine *engine)
{
	(void)engine;
	return uring_read_file(FILE_NAME, NULL, data, sizeof(data));
}

/* ---- the comparison ---- */

static struct side_of_total sides[MAX_SIDES];
static int side_count;

static void add(const char *calls, const char *engine, long (*run)(const struct engine *),
		const struct engine *on)
{
	sides[side_count++] = (struct side_of_total){ calls, engine, run, on, { 0 } };
}

static void add_batches(const char *calls, long (*run)(const struct engine *))
{
	size_t i;

	for (i = 0; i < engine_count; i++)
		if (engines[i].whole && engines[i].here())
			add(calls, engines[i].name, run, &engines[i]);
}

static void run_side(void *context)
{
	const struct side_of_total *side = context;

	side->run(side->on);
}

static void unmap(void *context)
{
	(void)context;
	if (mapped > 0)
		munmap((void *)mapped, FILE_SIZE);
	mapped = 0;
}

static void check(const struct side_of_total *side)
{
	long length = side->run(side->on);

	if (length != FILE_SIZE)
		errx(EXIT_FAILURE, "%s on %s came by %ld bytes instead of %d", side->calls,
		     side->engine, length, FILE_SIZE);
}

static void write_file(void)
{
	static const char page[FILE_SIZE];
	int fd = open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page) || close(fd))
		err(EXIT_FAILURE, "cannot write " FILE_NAME);
}

static void print_side(const struct side_of_total *side, int passes)
{
	int pass;

	printf("{\"bench\":\"total\",\"unit\":\"%s\",\"calls\":\"%s\",\"engine\":\"%s\","
	       "\"cost\":[",
	       count_unit(), side->calls, side->engine);
	for (pass = 0; pass < passes; pass++)
		printf("%s%ld", pass ? "," : "", side->costs[pass]);
	printf("]}\n");
}

int main(int argc, char *argv[])
{
	static const char map[] = "openat fstat mmap close", read[] = "openat statx read close";
	struct options options = read_options(argc, argv, usage);
	int pass, i;

	enter_tmpfs(options.directory);
	write_file();
	add_batches(map, map_by_batch);
	add(map, "raw", map_by_hand, NULL);
	add_batches(read, read_by_batch);
	add(read, "raw", read_by_hand, NULL);
	if (uring_files_here()) {
		add(read, "uring", read_by_uring, NULL);
		add("openat read close", "uring", read_by_uring_without_statx, NULL);
	}
	for (i = 0; i < side_count; i++)
		check(&sides[i]);
	for (pass = 0; pass < options.passes; pass++)
		for (i = 0; i < side_count; i++)
			sides[i].costs[pass] =
				(long)count_least(run_side, unmap, &sides[i], REPEATS);
	for (i = 0; i < side_count; i++)
		print_side(&sides[i], options.passes);
	unlink(FILE_NAME);
	return fclose(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

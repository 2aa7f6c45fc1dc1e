// SPDX-License-Identifier: MIT
/*
 * What an entry of a directory costs, its name and its attributes, in ns: instructions in a guest
 * that counts them.
 *
 *	directory DIRECTORY... [--json FILE]
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry/batchcall.h>
#include <linux/ferry.h>
#include <linux/getdents_statx.h>

#include "monotonic.h"

#define TRIALS 5
#define MASK (STATX_BASIC_STATS | STATX_BTIME)
#define FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)
#define MOST 2048 /* names in BUFFER, at least 16 bytes each */

struct dirent_header {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

static char buffer[32 << 10] __attribute__((aligned(8)));
static struct statx stats[MOST];
static struct batch_slot slots[MOST];
static long rets[MOST];

static void fail(const char *what, long result)
{
	fprintf(stderr, "directory: %s: %s\n", what, strerror((int)-result));
	exit(1);
}

static bool is_dot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* Reads names, and puts a statx() for each into slots[].  Returns how many there are. */
static long read_names(int fd)
{
	const long size = ferry_rawcall(SYS_getdents64, fd, (long)buffer, sizeof(buffer), 0, 0, 0);
	const struct dirent_header *entry;
	long at, count = 0;

	if (size < 0)
		fail("getdents64", size);
	for (at = 0; at < size; at += entry->reclen) {
		entry = (const struct dirent_header *)(buffer + at);
		if (is_dot(entry->name))
			continue;
		slots[count] = (struct batch_slot){
			.nr = SYS_statx,
			.argc = 5,
			.arg = { fd, (long)entry->name, FLAGS, MASK, (long)&stats[count] },
		};
		count++;
	}
	return count;
}

static void run_loop(long count)
{
	long i;

	for (i = 0; i < count; i++)
		rets[i] = ferry_rawcall(SYS_statx, slots[i].arg[0], slots[i].arg[1],
					slots[i].arg[2], slots[i].arg[3], slots[i].arg[4], 0);
}

static void run_batch(long count)
{
	const long last = ferry_batchcall(rets, slots, (unsigned long)count);

	if (last != count - 1)
		fail("batch", last < 0 ? last : rets[last]);
}

static long list_by(void (*run)(long count), int fd)
{
	long count, all = 0;

	while ((count = read_names(fd))) {
		run(count);
		all += count;
	}
	return all;
}

static long list_by_loop(int fd)
{
	return list_by(run_loop, fd);
}

static long list_by_batch(int fd)
{
	return list_by(run_batch, fd);
}

static long list_by_call(int fd)
{
	struct dirent_statx *entry;
	long size, at, all = 0;

	while ((size = ferry_rawcall(FERRY_NR_GETDENTS_STATX, fd, (long)buffer, sizeof(buffer),
				     MASK, 0, 0))) {
		if (size < 0)
			fail("getdents_statx", size);
		for (at = 0; at < size; at += entry->reclen) {
			entry = (struct dirent_statx *)(buffer + at);
			if (is_dot(entry->name))
				continue;
			if (!entry->stat.stx_mask)
				ferry_rawcall(SYS_statx, fd, (long)entry->name, FLAGS, MASK,
					      (long)&entry->stat, 0);
			all++;
		}
	}
	return all;
}

static const struct side {
	const char *name;
	long (*list)(int fd);
} sides[] = {
	{ "loop", list_by_loop },
	{ "batch", list_by_batch },
	{ "getdents_statx", list_by_call },
};

#define SIDES (sizeof(sides) / sizeof(sides[0]))

/* Of the shortest of TRIALS lists: an interrupt only adds to one. */
static double per_entry(const struct side *side, int fd)
{
	uint64_t best = UINT64_MAX;
	long count = 0;
	int i;

	for (i = 0; i < TRIALS; i++) {
		uint64_t took, start;

		lseek(fd, 0, SEEK_SET);
		start = now();
		count = side->list(fd);
		took = now() - start;
		if (took < best)
			best = took;
	}
	return count ? (double)best / (double)count : 0;
}

static void measure(const char *path, FILE *json, bool first)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	double cost;
	size_t i;

	if (fd < 0)
		fail(path, -errno);
	printf("%-30s", path);
	if (json)
		fprintf(json, "%s{\"directory\": \"%s\"", first ? "" : ", ", path);
	for (i = 0; i < SIDES; i++) {
		cost = per_entry(&sides[i], fd);
		printf(" %14.0f", cost);
		if (json)
			fprintf(json, ", \"%s\": %.1f", sides[i].name, cost);
	}
	printf("\n");
	if (json)
		fprintf(json, "}");
	close(fd);
}

int main(int argc, char **argv)
{
	const bool has_json = argc > 3 && !strcmp(argv[argc - 2], "--json");
	FILE *json = NULL;
	size_t side;
	int i, end = has_json ? argc - 2 : argc;

	if (end < 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: directory DIRECTORY... [--json FILE]\n");
		return 2;
	}
	if (has_json) {
		json = fopen(argv[argc - 1], "w");
		if (!json)
			fail(argv[argc - 1], -errno);
		fprintf(json, "{\"directories\": [");
	}
	printf("%-30s", "per entry");
	for (side = 0; side < SIDES; side++)
		printf(" %14s", sides[side].name);
	printf("\n");
	for (i = 1; i < end; i++)
		measure(argv[i], json, i == 1);
	if (!json)
		return 0;
	fprintf(json, "]}\n");
	return fclose(json) != 0;
}

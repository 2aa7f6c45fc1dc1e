// SPDX-License-Identifier: MIT
/*
 * many_names COUNT: attributes and contents of COUNT names, which need no memory besides the
 * caller's arrays.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ferry_files.h>

#include "tree.h"

#define MOST_MORE_KIB 8192 /* stacks of threads, and an allocator's share */
#define READ_AT_ONCE 100000

static long resident_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void stat_all(const char *const names[], size_t count)
{
	int *errors = calloc(count, sizeof(*errors));
	size_t i;
	long before;

	REQUIRE(errors);
	for (i = 0; i < count; i++)
		errors[i] = 1;
	before = resident_kib();
	REQUIRE(ferry_statx_many(AT_FDCWD, names, count, 0, 0, NULL, errors, NULL) ==
		(long)(count / 2));
	REQUIRE(resident_kib() - before < MOST_MORE_KIB);
	for (i = 0; i < count; i++)
		REQUIRE((errors[i] != 0) == (i % 2 != 0));
	free(errors);
}

static void read_all(const char *const names[], size_t count)
{
	struct ferry_file *files = calloc(READ_AT_ONCE, sizeof(*files));
	static char memory[READ_AT_ONCE * 16];
	size_t first, i;
	long before = -1;

	REQUIRE(files);
	for (first = 0; first + READ_AT_ONCE <= count; first += READ_AT_ONCE) {
		struct ferry_arena arena = { memory, sizeof(memory), 0 };

		for (i = 0; i < READ_AT_ONCE; i++)
			files[i] = (struct ferry_file){ 0 };
		REQUIRE(ferry_read_files(AT_FDCWD, names + first, READ_AT_ONCE, 0, files, &arena,
					 NULL) == READ_AT_ONCE / 2);
		if (before < 0)
			before = resident_kib();
	}
	REQUIRE(resident_kib() - before < MOST_MORE_KIB);
	free(files);
}

int main(int argc, char *argv[])
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000, i;
	const char **names = (const char **)malloc(count * sizeof(char *));

	REQUIRE(names);
	tree_begin(NULL);
	make_file("file", 5);
	for (i = 0; i < count; i++)
		names[i] = i % 2 ? "missing" : "file";
	stat_all(names, count);
	read_all(names, count / 10);
	tree_end(NULL);
	free((void *)names);
	return 0;
}

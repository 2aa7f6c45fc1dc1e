/* SPDX-License-Identifier: MIT */
/* Trees of files for the tests, in a temporary directory that is the working directory. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* For other threads and child processes, where cmocka's assertions cannot end the test. */
#define REQUIRE(condition)                                              \
	do {                                                            \
		if (!(condition)) {                                     \
			fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
			perror(#condition);                             \
			abort();                                        \
		}                                                       \
	} while (0)

/** Makes a temporary directory and goes there.  A set-up of cmocka's; STATE may be NULL. */
int tree_begin(void **state);

/** Removes it with all that is in it. */
int tree_end(void **state);

/** A test of tests/unit.h in such a directory. */
#define TREE_TEST(name) TEST_BETWEEN(name, tree_begin, tree_end)

/** Makes a file with SIZE bytes of a pattern that depends on its name. */
void make_file(const char *name, size_t size);

/** Whether DATA is what make_file() wrote. */
bool is_content(const char *name, const char *data, size_t size);

void make_directory(const char *name);
void make_link(const char *target, const char *name);

/** A tree of about COUNT names below the directory NAME, the same for the same SEED. */
void make_random_tree(const char *name, unsigned int count, unsigned int seed);

/** A nested chain of LEVELS directories below NAME, with a file in the last. */
void make_chain(const char *name, unsigned int levels);

/** COUNT names "PREFIX0", "PREFIX1", ..., to be freed with free_names(). */
char **make_names(const char *prefix, size_t count);
/** The same, of files with SIZE_OF(i) bytes, of which each tenth does not exist. */
char **make_files(size_t count, size_t (*size_of)(size_t i));

void free_names(char **names, size_t count);

#endif /* TREE_H */

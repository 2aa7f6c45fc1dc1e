// SPDX-License-Identifier: MIT
/*
 * The programs in programs/: they draw no warnings, and they do what they say.
 * constructs.ferry holds every construct, sensible or not.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry/loop.h>

#include "support.h"

static struct image *assemble_program(const char *name)
{
	char *text = read_source(PROGRAMS, name);
	struct image *image = assemble(text);

	free(text);
	return image;
}

TEST(no_program_draws_a_warning)
{
	DIR *directory = opendir(PROGRAMS);
	struct dirent *entry;
	int count = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		struct image *image;

		if (!strstr(entry->d_name, ".ferry") || !strcmp(entry->d_name, "constructs.ferry"))
			continue;
		image = assemble_program(entry->d_name);
		assert_no_warnings(image);
		image_free(image);
		count++;
	}
	closedir(directory);
	assert_true(count >= 7);
}

/* A loaded program that has run, and its output. */
struct run {
	struct image *image;
	struct loaded loaded;
	long last;
	char output[1 << 16];
	size_t output_length;
};

static struct run *run_program(const char *name)
{
	struct run *run = calloc(1, sizeof(*run));
	int saved = dup(STDOUT_FILENO);
	int output = memfd_create("output", 0);
	ssize_t length;

	run->image = assemble_program(name);
	assert_int_equal(image_load(run->image, &run->loaded), 0);
	fflush(stdout);
	dup2(output, STDOUT_FILENO);
	run->last = ferry_loop(run->loaded.rets, run->loaded.slots, run->loaded.ncall);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	length = pread(output, run->output, sizeof(run->output) - 1, 0);
	assert_true(length >= 0);
	run->output_length = (size_t)length;
	close(output);
	return run;
}

static void end_run(struct run *run)
{
	image_unload(&run->loaded);
	image_free(run->image);
	free(run);
}

static void assert_output_is_file(const struct run *run, const char *path)
{
	char expected[sizeof(run->output)] = "";
	FILE *file = fopen(path, "r");
	size_t length;

	if (!file) {
		assert_int_equal(run->loaded.rets[0], -errno);
		assert_int_equal(run->output_length, 0);
		return;
	}
	length = fread(expected, 1, sizeof(expected), file);
	fclose(file);
	assert_int_equal(run->output_length, length);
	assert_memory_equal(run->output, expected, length);
}

TEST(cat_prints_a_file)
{
	struct run *run = run_program("cat.ferry");

	assert_output_is_file(run, "/etc/hostname");
	end_run(run);
}

TEST(sendfile_prints_a_file)
{
	struct run *run = run_program("sendfile.ferry");

	assert_output_is_file(run, "/etc/passwd");
	end_run(run);
}

TEST(pathsearch_prints_the_first_path_that_exists)
{
	struct run *run = run_program("pathsearch.ferry");

	assert_string_equal(run->output, "/bin/sh\n");
	assert_int_equal(run->loaded.rets[0], -ENOENT);
	assert_int_equal(run->loaded.rets[3], -ENOENT);
	assert_int_equal(run->loaded.rets[6], 0);
	end_run(run);
}

TEST(readv_scatters_and_gathers)
{
	struct run *run = run_program("readv.ferry");

	assert_string_equal(run->output, "ahoy ship");
	assert_int_equal(run->loaded.rets[4], 0);
	end_run(run);
}

TEST(stat_fills_a_buffer_for_each_file)
{
	struct run *run = run_program("stat.ferry");
	const struct statx *root = run->loaded.data[3];
	const struct statx *null = run->loaded.data[4];
	struct stat expected;

	assert_int_equal(stat("/", &expected), 0);
	assert_int_equal(run->loaded.rets[0], 0);
	assert_int_equal(root->stx_ino, expected.st_ino);
	assert_true(S_ISDIR(root->stx_mode));
	assert_int_equal(run->loaded.rets[1], 0);
	assert_true(S_ISCHR(null->stx_mode));
	assert_int_equal(run->loaded.rets[2], -ENOENT);
	end_run(run);
}

static bool is_ignored(int signal)
{
	struct sigaction action;

	assert_int_equal(sigaction(signal, NULL, &action), 0);
	return action.sa_handler == SIG_IGN;
}

TEST(sigaction_ignores_and_restores)
{
	struct run *run;

	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	run = run_program("sigaction.ferry");
	assert_int_equal(run->last, 4);
	assert_true(is_ignored(SIGHUP));
	assert_true(is_ignored(SIGTTIN));
	assert_true(is_ignored(SIGTTOU));
	assert_false(is_ignored(SIGPIPE));
	end_run(run);
}

TEST_MAIN

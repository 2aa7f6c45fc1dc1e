// SPDX-License-Identifier: MIT
#include "du_count.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <ferry_files.h>

#include "common/memory.h"
#include "common/messages.h"
#include "common/output.h"

#define BYTES_PER_BLOCK 512 /* of stx_blocks */

struct counting {
	struct du_tree *tree;
	const struct du_options *options;
	bool every_link; /* there are several arguments: anything may be found again */
	dev_t device;	 /* of the argument */
	bool has_failed;
	bool shows_progress;
};

/* ---- messages ---- */

static void clear_progress(const struct counting *counting)
{
	if (counting->shows_progress)
		fputs("\r\033[K", stderr);
}

static int show_progress(void *context, size_t done)
{
	(void)context;
	fprintf(stderr, "\r%zu files\033[K", done);
	return 0;
}

static void fail(struct counting *counting, const char *what, const char *path, int error)
{
	clear_progress(counting);
	complain("du: %s '%s': %s", what, path, strerror(-error));
	counting->has_failed = true;
}

/* ---- entries ---- */

static char *path_of(const struct ferry_block *block, const char *name)
{
	bool slash = block->path_length && block->path[block->path_length - 1] != '/';
	size_t size = block->path_length + strlen(name) + 2;
	char *path = allocate(size, 1);

	snprintf(path, size, "%s%s%s", block->path, slash ? "/" : "", name);
	return path;
}

static bool has_wildcards(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (strchr("?*[", *pattern))
			return true;
		pattern += *pattern == '\\' && pattern[1];
	}
	return false;
}

/* Whether PATTERN without wildcards stands for TEXT.  A backslash at its end stands for itself. */
static bool stands_for(const char *pattern, const char *text)
{
	for (; *pattern; pattern++, text++) {
		pattern += *pattern == '\\' && pattern[1];
		if (*pattern != *text)
			return false;
	}
	return !*text;
}

static bool fits(const char *pattern, bool wild, const char *text)
{
	return wild ? !fnmatch(pattern, text, 0) : stands_for(pattern, text);
}

/* As GNU du: a pattern matches the path, or what follows one of its slashes. */
static bool matches(const char *pattern, const char *path)
{
	bool wild = has_wildcards(pattern);
	const char *at;

	if (fits(pattern, wild, path))
		return true;
	for (at = path; *at; at++)
		if (*at == '/' && !(wild && at[1] == '/') && fits(pattern, wild, at + 1))
			return true;
	return false;
}

static bool is_excluded(const struct counting *counting, const struct ferry_block *block,
			const struct ferry_walk_entry *entry)
{
	const struct du_options *options = counting->options;
	bool excluded = false;
	char *path;
	size_t i;

	if (!options->exclude_count)
		return false;
	path = path_of(block, entry->name);
	for (i = 0; i < options->exclude_count && !excluded; i++)
		excluded = matches(options->exclude[i], path);
	free(path);
	return excluded;
}

static uint64_t bytes_of(const struct counting *counting, const struct statx *stat)
{
	return counting->options->apparent ? stat->stx_size : stat->stx_blocks * BYTES_PER_BLOCK;
}

static dev_t device_of(const struct statx *stat)
{
	return makedev(stat->stx_dev_major, stat->stx_dev_minor);
}

static bool may_be_found_again(const struct counting *counting,
			       const struct ferry_walk_entry *entry)
{
	if (counting->options->count_links)
		return false;
	return counting->every_link || (entry->type != DT_DIR && entry->stat->stx_nlink > 1);
}

/* The item whose bytes ENTRY is to be counted in: its own if it has a line. */
static struct du_item *holder_of(struct counting *counting, const struct ferry_block *block,
				 const struct ferry_walk_entry *entry)
{
	const struct du_options *options = counting->options;
	bool is_file = entry->type != DT_DIR;

	if (!block->depth)
		return du_add(counting->tree, NULL, entry->name, is_file);
	if (block->depth > options->max_depth || (is_file && !options->all))
		return block->context;
	return du_add(counting->tree, block->context, entry->name, is_file);
}

static void count_entry(struct counting *counting, const struct ferry_block *block,
			struct ferry_walk_entry *entry)
{
	const struct statx *stat = entry->stat;
	const bool again = may_be_found_again(counting, entry);
	struct du_item *holder;

	if (again && entry->type == DT_DIR &&
	    du_found(counting->tree, device_of(stat), stat->stx_ino)) {
		entry->prune = 1;
		return;
	}
	holder = holder_of(counting, block, entry);
	entry->context = holder;
	if (again)
		du_count_link(counting->tree, device_of(stat), stat->stx_ino,
			      bytes_of(counting, stat), holder);
	else
		holder->bytes += bytes_of(counting, stat);
}

static void take_entry(struct counting *counting, const struct ferry_block *block,
		       struct ferry_walk_entry *entry)
{
	char *path;

	if (is_excluded(counting, block, entry)) {
		entry->prune = 1;
		return;
	}
	if (entry->error) {
		path = path_of(block, entry->name);
		fail(counting, "cannot look at", path, entry->error);
		free(path);
		return;
	}
	if (!block->depth)
		counting->device = device_of(entry->stat);
	if (counting->options->one_file_system && device_of(entry->stat) != counting->device)
		entry->prune = 1;
	else
		count_entry(counting, block, entry);
}

/*
 * The directory of BLOCK is one of those above it.  Symbolic links are not followed, so that is a
 * mount, and no mistake: as GNU du, it is not counted again.
 */
static void forget_directory(const struct counting *counting, const struct ferry_block *block)
{
	struct du_item *holder = block->context;
	struct statx stat;
	uint64_t bytes;

	if (block->depth - 1 <= counting->options->max_depth) {
		holder->bytes = 0;
		holder->hidden = true;
	} else if (!statx(AT_FDCWD, block->path, AT_SYMLINK_NOFOLLOW, STATX_SIZE | STATX_BLOCKS,
			  &stat)) {
		/* It may have grown since it was counted. */
		bytes = bytes_of(counting, &stat);
		holder->bytes -= bytes < holder->bytes ? bytes : holder->bytes;
	}
}

static int take_block(void *context, struct ferry_block *block)
{
	struct counting *counting = context;
	size_t i;

	if (block->error == -ELOOP && block->depth > 1)
		forget_directory(counting, block);
	else if (block->error)
		fail(counting, "cannot read directory", block->path, block->error);
	for (i = 0; i < block->count; i++)
		take_entry(counting, block, &block->entries[i]);
	return 0;
}

/* ---- arguments ---- */

bool du_count(struct du_tree *tree, const struct du_options *options, char *const paths[],
	      size_t count)
{
	struct counting counting = {
		.tree = tree,
		.options = options,
		.every_link = count > 1,
		.shows_progress = is_terminal(STDERR_FILENO),
	};
	const struct ferry_files_options how = {
		.progress = counting.shows_progress ? show_progress : NULL,
	};
	const unsigned int mask = STATX_TYPE | STATX_INO | STATX_NLINK |
				  (options->apparent ? STATX_SIZE : STATX_BLOCKS);
	size_t i;
	int error;

	for (i = 0; i < count; i++) {
		error = ferry_walk(AT_FDCWD, paths[i], 0, mask, take_block, &counting, &how);
		if (error)
			fail(&counting, "cannot walk", paths[i], error);
	}
	clear_progress(&counting);
	return !counting.has_failed;
}

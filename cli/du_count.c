// SPDX-License-Identifier: MIT
#include "du_count.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <ferry_files.h>

#include "common/memory.h"
#include "common/output.h"
#include "du_messages.h"

#define BYTES_PER_BLOCK 512 /* of stx_blocks */

struct counting {
	struct du_tree *tree;
	const struct du_options *options;
	bool every_link; /* anything may be found again */
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
	du_complain("%s %s: %s", what, du_quoted(path), strerror(-error));
	counting->has_failed = true;
}

/* ---- entries ---- */

static char *path_of(const struct ferry_block *block, const struct ferry_walk_entry *entry)
{
	size_t size = ferry_walk_entry_path(block, entry, NULL, 0) + 1;
	char *path = allocate(size, 1);

	ferry_walk_entry_path(block, entry, path, size);
	return path;
}

static bool is_excluded(const struct counting *counting, const struct ferry_block *block,
			const struct ferry_walk_entry *entry)
{
	const struct du_patterns *patterns = &counting->options->exclude;
	bool excluded;
	char *path;

	if (!patterns->count)
		return false;
	path = path_of(block, entry);
	excluded = du_is_excluded(patterns, path);
	free(path);
	return excluded;
}

static du_bytes amount_of(const struct counting *counting, const struct statx *stat)
{
	switch (counting->options->counted) {
	case DU_INODES:
		return 1;
	case DU_SIZES:
		return stat->stx_size;
	default:
		return (du_bytes)stat->stx_blocks * BYTES_PER_BLOCK;
	}
}

static struct du_time time_of(const struct counting *counting, const struct statx *stat)
{
	const struct statx_timestamp *time;

	switch (counting->options->time) {
	case DU_CHANGE_OF_CONTENTS:
		time = &stat->stx_mtime;
		break;
	case DU_ACCESS:
		time = &stat->stx_atime;
		break;
	case DU_CHANGE_OF_STATUS:
		time = &stat->stx_ctime;
		break;
	default:
		return DU_NEVER;
	}
	return (struct du_time){ time->tv_sec, time->tv_nsec };
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
	bool is_file = entry->type != DT_DIR, is_listed = block->depth <= options->max_depth;

	if (!block->depth)
		return du_add(counting->tree, NULL, entry->name, is_file);
	/* Separate directories are not part of one that is listed. */
	if (is_file ? !is_listed || !options->all : !is_listed && !options->separate)
		return block->context;
	return du_add(counting->tree, block->context, entry->name, is_file);
}

static void count_entry(struct counting *counting, const struct ferry_block *block,
			struct ferry_walk_entry *entry)
{
	const struct statx *stat = entry->stat;
	const bool again = may_be_found_again(counting, entry);
	const struct du_sum sum = { amount_of(counting, stat), time_of(counting, stat) };
	struct du_item *holder;

	if (again && entry->type == DT_DIR &&
	    du_found(counting->tree, device_of(stat), stat->stx_ino)) {
		entry->prune = 1;
		return;
	}
	holder = holder_of(counting, block, entry);
	entry->context = holder;
	if (again)
		du_count_link(counting->tree, device_of(stat), stat->stx_ino, &sum, holder);
	else
		du_add_sum(&holder->sum, &sum);
}

static bool is_followed(const struct counting *counting, const struct ferry_block *block)
{
	enum du_follow follow = counting->options->follow;

	return follow == DU_FOLLOW_ALL || (follow == DU_FOLLOW_ARGUMENTS && !block->depth);
}

/* Why a link that is to be followed leads nowhere. */
static int error_of_link(const char *path)
{
	struct stat found;

	return stat(path, &found) ? -errno : -ENOENT;
}

static void fail_entry(struct counting *counting, const struct ferry_block *block,
		       const struct ferry_walk_entry *entry)
{
	char *path = path_of(block, entry);

	fail(counting, "cannot access", path, entry->error ? entry->error : error_of_link(path));
	free(path);
}

static void take_entry(struct counting *counting, const struct ferry_block *block,
		       struct ferry_walk_entry *entry)
{
	if (is_excluded(counting, block, entry)) {
		entry->prune = 1;
		return;
	}
	if (entry->error || (entry->type == DT_LNK && is_followed(counting, block))) {
		fail_entry(counting, block, entry);
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
 * The directory of BLOCK is one of those above it, by a mount, or a link that is to be followed: as
 * GNU du, it is not counted again.
 */
static void forget_directory(const struct counting *counting, const struct ferry_block *block)
{
	const struct du_options *options = counting->options;
	int flags = options->follow == DU_FOLLOW_ALL ? 0 : AT_SYMLINK_NOFOLLOW;
	struct du_item *holder = block->context;
	struct statx stat;
	du_bytes amount;

	if (block->depth - 1 <= options->max_depth || options->separate) {
		holder->sum = DU_NOTHING;
		holder->hidden = true;
	} else if (!statx(AT_FDCWD, block->path, flags, STATX_SIZE | STATX_BLOCKS, &stat)) {
		/* It may have grown since it was counted. */
		amount = amount_of(counting, &stat);
		holder->sum.amount -= amount < holder->sum.amount ? amount : holder->sum.amount;
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

static unsigned int mask_of(const struct du_options *options)
{
	static const unsigned int times[] = {
		[DU_NO_TIME] = 0,
		[DU_CHANGE_OF_CONTENTS] = STATX_MTIME,
		[DU_ACCESS] = STATX_ATIME,
		[DU_CHANGE_OF_STATUS] = STATX_CTIME,
	};

	return STATX_TYPE | STATX_INO | STATX_NLINK | times[options->time] |
	       (options->counted == DU_SIZES ? STATX_SIZE : STATX_BLOCKS);
}

static unsigned int flags_of(const struct du_options *options)
{
	static const unsigned int flags[] = {
		[DU_FOLLOW_NOTHING] = 0,
		[DU_FOLLOW_ARGUMENTS] = FERRY_WALK_FOLLOW_ROOT,
		/* Sorted: a directory that several paths lead to counts on the same one each time.
		 */
		[DU_FOLLOW_ALL] = FERRY_WALK_FOLLOW | FERRY_WALK_SORTED,
	};

	return flags[options->follow];
}

static void count_argument(struct counting *counting, const char *path)
{
	const struct ferry_files_options how = {
		.progress = counting->shows_progress ? show_progress : NULL,
	};
	bool failed = counting->has_failed;
	int error;

	counting->has_failed = false;
	error = ferry_walk(AT_FDCWD, path, flags_of(counting->options), mask_of(counting->options),
			   take_block, counting, &how);
	/* An error of the argument itself has been passed on. */
	if (error && !counting->has_failed)
		fail(counting, "cannot access", path, error);
	counting->has_failed |= failed;
}

bool du_count(struct du_tree *tree, const struct du_options *options,
	      const struct du_arguments *arguments)
{
	struct counting counting = {
		.tree = tree,
		.options = options,
		.every_link = !arguments->is_known || arguments->count > 1 ||
			      options->follow == DU_FOLLOW_ALL,
		.shows_progress = is_terminal(STDERR_FILENO),
	};
	size_t i;

	for (i = 0; i < arguments->count; i++)
		count_argument(&counting, arguments->paths[i]);
	clear_progress(&counting);
	return !counting.has_failed;
}

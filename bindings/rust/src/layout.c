// SPDX-License-Identifier: MIT
/* Structures are declared in C and in sys.rs: a difference ends the compilation here. */
#include <stddef.h>
#include <sys/stat.h>

#include <ferry_files.h>

#define PLACE(type, member, offset) \
	_Static_assert(offsetof(type, member) == (offset), "sys.rs has another " #type)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), "sys.rs has another " #type)

PLACE(struct ferry_files_options, threads, 0);
PLACE(struct ferry_files_options, timeout_ms, 4);
PLACE(struct ferry_files_options, cancel, 8);
PLACE(struct ferry_files_options, progress, 16);
PLACE(struct ferry_files_options, context, 24);
SIZE(struct ferry_files_options, 32);

PLACE(struct ferry_walk_entry, name, 0);
PLACE(struct ferry_walk_entry, stat, 8);
PLACE(struct ferry_walk_entry, inode, 16);
PLACE(struct ferry_walk_entry, context, 24);
PLACE(struct ferry_walk_entry, error, 32);
PLACE(struct ferry_walk_entry, type, 36);
PLACE(struct ferry_walk_entry, prune, 37);
SIZE(struct ferry_walk_entry, 40);

PLACE(struct ferry_block, path, 0);
PLACE(struct ferry_block, path_length, 8);
PLACE(struct ferry_block, context, 16);
PLACE(struct ferry_block, entries, 24);
PLACE(struct ferry_block, count, 32);
PLACE(struct ferry_block, dir, 40);
PLACE(struct ferry_block, depth, 44);
PLACE(struct ferry_block, error, 48);

PLACE(struct statx, stx_mode, 28);
PLACE(struct statx, stx_atime, 64);
PLACE(struct statx, stx_dev_minor, 140);
SIZE(struct statx, 256);

PLACE(struct ferry_contents, index, 0);
PLACE(struct ferry_contents, data, 8);
PLACE(struct ferry_contents, length, 16);
PLACE(struct ferry_contents, offset, 24);
PLACE(struct ferry_contents, is_last, 32);
PLACE(struct ferry_contents, error, 36);

PLACE(struct ferry_walk_filter, max_depth, 0);
PLACE(struct ferry_walk_filter, hide, 4);
PLACE(struct ferry_walk_filter, include, 8);
PLACE(struct ferry_walk_filter, exclude, 16);
PLACE(struct ferry_walk_filter, ignore_file, 24);
SIZE(struct ferry_walk_filter, 32);

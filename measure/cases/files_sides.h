/* SPDX-License-Identifier: MIT */
/* What `ferry bench files` times in its own process: each job in one call, and by plain calls. */
#ifndef FILES_SIDES_H
#define FILES_SIDES_H

#include <stddef.h>
#include <stdint.h>

#include <ferry_files.h>

#define LARGEST_FILE ((size_t)64 << 10) /* a file that is read is smaller, bytes */

/* Files to work on, and room for what is found out about them. */
struct file_set {
	int dir;
	const char **names; /* relative to dir */
	size_t *sizes;
	size_t count;
	struct statx *stats;
	int *errors;
	struct ferry_file *files;
	struct ferry_arena arena; /* with room for the contents of all */
};

/**
 * Collects up to MOST regular files of the tree at PATH that can be read and are small, in the
 * order of a walk: 0, or an exit status after complaining.
 */
int file_set_collect(struct file_set *set, const char *path, size_t most);

/** Room for what is found out. */
void file_set_make_room(struct file_set *set);

/** Why SHA-256 cannot be computed here, or NULL. */
const char *sha256_missing(void);

/*
 * Each does its job once, on the first COUNT files of SET or on the tree set->dir.  Two sides of a
 * job return the same number when they found the same.
 */
typedef uint64_t file_side(struct file_set *set, size_t count);

file_side statx_in_one_call, statx_by_plain_calls;
file_side read_in_one_call, read_by_plain_calls;
/* Both open a file before they look at what it is. */
file_side open_first_in_one_call, look_and_read_by_plain_calls;
/* The same, and SHA-256 of the contents. */
file_side hash_in_one_call, hash_by_plain_calls;
file_side walk_in_one_call, walk_by_fts, walk_by_recursion;

#endif /* FILES_SIDES_H */

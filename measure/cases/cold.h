/* SPDX-License-Identifier: MIT */
/*
 * A file system of which nothing is in memory: on a loop device with direct I/O, mounted anew for
 * each run.  Its image has no name, its mount no place, and its device clears itself, so that
 * nothing is left of them when the process ends in whatever way.
 */
#ifndef COLD_H
#define COLD_H

#include <stdbool.h>

#include "files_sides.h"

struct cold {
	struct file_set set; /* its dir is the file system */
	int before;	     /* the working directory, to return to */
	int device;
	char *path; /* of the device */
};

/** Makes it, with files as large as LIKE's.  Returns why it cannot, kept, or NULL. */
const char *cold_make(struct cold *cold, const struct file_set *like);

/** Mounts it, and makes it the working directory.  Returns why it cannot, kept, or NULL. */
const char *cold_mount(struct cold *cold, bool to_write);

/** Gives it up. */
void cold_end(struct cold *cold);

#endif /* COLD_H */

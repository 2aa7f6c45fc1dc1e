/* SPDX-License-Identifier: MIT */
/* Reading a whole file by one linked chain of io_uring requests, in one crossing. */
#ifndef URING_FILES_H
#define URING_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/** Sets up the ring; false where io_uring, or a direct descriptor, is not to be had. */
bool uring_files_here(void);

/**
 * Opens PATH as a direct descriptor, stats it by its path (io_uring has no fstat) unless
 * STAT is NULL, reads up to SIZE bytes of it and closes it.  The bytes read, or -errno of
 * the first request that failed.
 */
long uring_read_file(const char *path, struct statx *stat, char *buffer, size_t size);

#endif /* URING_FILES_H */

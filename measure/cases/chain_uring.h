/* SPDX-License-Identifier: MIT */
/* Reading a whole file by one linked chain of io_uring requests, in one crossing. */
#ifndef CHAIN_URING_H
#define CHAIN_URING_H

#include <stddef.h>
#include <sys/stat.h>

/** Why this process cannot use io_uring with direct descriptors, as a constant, or NULL. */
const char *chain_uring_missing(void);

/**
 * Opens PATH as a direct descriptor, stats it by its path (io_uring has no fstat) unless
 * STAT is NULL, reads up to SIZE bytes of it and closes it.  The bytes read, or -errno of
 * the first request that failed.  The ring belongs to the process that makes the first call.
 */
long uring_read_file(const char *path, struct statx *stat, char *buffer, size_t size);

#endif /* CHAIN_URING_H */

/* SPDX-License-Identifier: MIT */
/*
 * The system calls of a member.  Each returns the raw result, -ETIMEDOUT after the time limit of
 * the options, or -ECANCELED when the job ended while the call hung.  Without a member (NULL), in
 * a job too small for a crew, there is no limit.
 */
#ifndef FILES_CALLS_H
#define FILES_CALLS_H

#include <stddef.h>
#include <fcntl.h>
#include <linux/openat2.h>

#include "crew.h"
#include "statx.h"

long ferry__call_statx(struct member *member, int dir, const char *name, int flags,
		       unsigned int mask, struct statx *into);
/** The type and size of an open file, in the fields of statx(). */
long ferry__call_fstat(struct member *member, int fd, struct statx *into);

long ferry__call_open(struct member *member, int dir, const char *name, int flags);

/** HOW has to be static: after the time limit the call may still read it. */
long ferry__call_openat2(struct member *member, int dir, const char *name,
			 const struct open_how *how);

/** As ferry__call_open(), but no symbolic link in NAME is followed.  Writes to NAME meanwhile. */
long ferry__call_open_beneath(struct member *member, int dir, char *name, int flags);

long ferry__call_getdents(struct member *member, int fd, void *into, size_t size);
long ferry__call_read(struct member *member, int fd, void *into, size_t size);
long ferry__call_pread(struct member *member, int fd, void *into, size_t size, long offset);
void ferry__call_close(struct member *member, int fd);

/** Frees what MEMBER used for its calls. */
void ferry__calls_end(struct member *member);

#endif /* FILES_CALLS_H */

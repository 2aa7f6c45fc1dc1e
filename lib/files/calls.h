/* SPDX-License-Identifier: MIT */
/*
 * The system calls of a member.  Each returns the raw result, -ETIMEDOUT after the time limit of
 * the options, or -ECANCELED when the job ended while the call hung.  Without a member (NULL), in
 * a job too small for a crew, there is no limit.
 */
#ifndef FILES_CALLS_H
#define FILES_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/openat2.h>

#include "crew.h"
#include "proxy.h"
#include "statx.h"

/** Whether RESULT is that of a sandbox for a call that it does not know. */
static inline bool ferry__is_refused(long result)
{
	return result == -ENOSYS || result == -EPERM;
}

/** Without statx(2), the attributes that newfstatat(2) has. */
long ferry__call_statx(struct member *member, int dir, const char *name, int flags,
		       unsigned int mask, struct statx *into);
/** The same by newfstatat(2), after statx(2) was refused. */
long ferry__call_statx_again(struct member *member, int dir, const char *name, int flags,
			     struct statx *into);

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
/** Another call. */
long ferry__call_any(struct member *member, const struct proxy_call *any);

void ferry__call_close(struct member *member, int fd);

/** Frees what MEMBER used for its calls. */
void ferry__calls_end(struct member *member);

#endif /* FILES_CALLS_H */

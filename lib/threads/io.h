/* SPDX-License-Identifier: MIT */
/* A call on a descriptor that is tried without waiting, and waits on a carrier. */
#ifndef THREADS_IO_H
#define THREADS_IO_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "watch.h"

struct io {
	/* Returns the call's result or -errno; -EAGAIN: it would wait. */
	long (*attempt)(struct io *io);
	int fd;
	enum direction direction;
	bool exclusive; /* one waiter is enough for an event: accept() */
	bool no_wait;	/* the caller asked for MSG_DONTWAIT */
	bool partly;	/* a part of the data is through: every handler ends the call */
	int flags;	/* of the call */
	void *data;	/* a buffer, an array of buffers, or a message */
	size_t size;	/* bytes, or buffers */
	void *address, *length;
};

/* io_run(): the caller waits with libc's function.  Not after a part. */
#define IO_IN_LIBC (-4096)

/* The call's result or -errno, or IO_IN_LIBC.  For threads that are new or carried. */
long io_run(struct io *io);

/* True during a rest: libc makes the call, and events of FD wake no carrier. */
bool io_rests(int fd);

/* Counts a call of a carried thread; after some without a wait, others run. */
void io_spend(void);

/* Raises what the kernel would have raised: the result is -EPIPE or -EFBIG. */
long io_finish(long result, int flags);

#endif /* THREADS_IO_H */

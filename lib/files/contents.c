// SPDX-License-Identifier: MIT
#include "contents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

int ferry__contents_allowed(const struct statx *stat, unsigned int flags)
{
	switch (stat->stx_mode & S_IFMT) {
	case S_IFREG:
		return 0;
	case S_IFDIR:
		return -EISDIR;
	case S_IFSOCK:
		return -ENXIO;
	case S_IFLNK:
		return -ELOOP;
	case S_IFCHR:
	case S_IFBLK:
		return flags & FERRY_READ_DEVICES ? 0 : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

static bool is_regular(const struct statx *stat)
{
	return S_ISREG(stat->stx_mode);
}

/* ---- opening ---- */

/*
 * Opens a regular file on which another process has a lease: that one is told, and has some time to
 * give it up.  Only without O_NONBLOCK is this waited for.  Nothing else is opened like that.
 */
static long open_leased(struct member *member, int dir, const char *name, int flags)
{
	long file = ferry__call_open(member, dir, name, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
	long fd = -EAGAIN;
	struct statx stat;
	char path[64];

	if (file < 0)
		return file;
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%ld", file);
	if (!ferry__call_fstat(member, (int)file, &stat) && is_regular(&stat))
		fd = ferry__call_open(member, AT_FDCWD, path, CONTENTS_OPEN & ~O_NONBLOCK);
	ferry__call_close(member, (int)file);
	return fd;
}

/* FLAGS are FERRY_READ_*. */
static long open_file(struct member *member, int dir, const char *name, unsigned int flags)
{
	const int open_flags = ferry__contents_open_flags(flags);
	long fd = ferry__call_open(member, dir, name, open_flags);

	return fd == -EAGAIN ? open_leased(member, dir, name, open_flags) : fd;
}

/* ---- reading ---- */

/* An open file that is being read. */
struct reading {
	struct member *member;
	int fd;
	bool by_position; /* pread(), which cannot consume what a FIFO holds */
	bool is_part;	  /* what does not fit is not wanted */
	unsigned long long start;
};

static long read_some(const struct reading *of, void *into, size_t size, size_t offset)
{
	if (of->by_position)
		return ferry__call_pread(of->member, of->fd, into, size,
					 (long)(of->start + offset));
	return ferry__call_read(of->member, of->fd, into, size);
}

/*
 * The place is full: 0 at the end of the file, -EFBIG where the limit keeps the rest out,
 * -ENOBUFS where the arena does.
 */
static int at_end(const struct reading *of, const struct place *place)
{
	char byte;
	long n = read_some(of, &byte, 1, place->length);

	if (n <= 0)
		return (int)n;
	return place->length < place->limit ? -ENOBUFS : -EFBIG;
}

/* Reads up to the end.  SIZE, if not 0, is the size that a regular file had. */
static int read_to_end(const struct reading *of, struct place *place, size_t size)
{
	long n;

	for (;;) {
		if (of->is_part && place->length == place->limit)
			return 0;
		if (place->length == place->room && !ferry__place_grow(place))
			return at_end(of, place);
		n = read_some(of, place->data + place->length, place->room - place->length,
			      place->length);
		if (n <= 0)
			return (int)n;
		place->length += (size_t)n;
		/* A read that stops at the known size, with room left, has met the end. */
		if (size && place->length == size && place->length < place->room)
			return 0;
	}
}

/*
 * An empty file, or one in /proc or /sys, whose size is known only once it has been read.  Many of
 * those must be read by one call.
 */
static int read_unknown(const struct reading *of, struct place *place)
{
	char start[4096];
	size_t size = place->limit < sizeof(start) ? place->limit : sizeof(start);
	long n = size ? read_some(of, start, size, 0) : 0;

	if (n < 0 || (!n && size))
		return (int)n;
	while (place->room < (size_t)n)
		if (!ferry__place_grow(place))
			return -ENOBUFS;
	if (n)
		memcpy(place->data, start, (size_t)n);
	place->length = (size_t)n;
	return read_to_end(of, place, 0);
}

static int read_contents(const struct reading *of, struct place *place, size_t size)
{
	if (place->arena && !place->room)
		return read_unknown(of, place);
	return read_to_end(of, place, size);
}

/* Whether the opened file is regular: another may have taken its name meanwhile. */
static bool opened_regular(const struct reading *of)
{
	struct statx stat;

	return !ferry__call_statx(of->member, of->fd, "", AT_EMPTY_PATH, STATX_TYPE, &stat) &&
	       is_regular(&stat);
}

static int read_open(struct reading *of, size_t rest, struct place *place)
{
	size_t size = of->by_position ? rest : 0;
	int error;

	if (of->start && !of->by_position)
		return -EOPNOTSUPP;
	error = read_contents(of, place, size);

	/* Some regular files in /proc and /sys cannot be read at a position. */
	if (error == -ESPIPE && of->by_position && !of->start && opened_regular(of)) {
		of->by_position = false;
		error = read_contents(of, place, 0);
	}
	return error == -ESPIPE ? -EOPNOTSUPP : error;
}

void ferry__contents_none(struct ferry_file *file, int error)
{
	file->data = NULL;
	file->length = 0;
	file->needed = 0;
	file->error = error;
}

static bool lacked_room(int error)
{
	return error == -EFBIG || error == -ENOBUFS;
}

void ferry__contents_store(struct ferry_file *file, struct place *place, int error)
{
	bool keep = !error || error == -EFBIG;

	if (!keep)
		place->length = 0;
	ferry__place_trim(place);
	file->error = error;
	file->length = place->length;
	file->needed = place->length;
	file->data = keep ? place->data : NULL;
}

/*
 * IS_CUT: nobody looked for the end.  A file that lacked room but is known to be no larger than
 * what was read, or not known at all, has one byte more.
 */
static void store_need(struct ferry_file *file, size_t rest, bool is_cut)
{
	if (lacked_room(file->error))
		file->needed = rest > file->length ? rest : file->length + 1;
	else if (is_cut && rest > file->length)
		file->needed = rest;
}

static void read_and_close(struct reading *of, unsigned int flags, const struct statx *stat,
			   struct ferry_file *file, struct shared_arena *arena)
{
	size_t rest = ferry__contents_rest(file, stat);
	struct place place;

	of->by_position = is_regular(stat);
	of->is_part = flags & FERRY_READ_PART;
	of->start = file->offset;
	file->error = ferry__place_init(&place, file, rest, arena);
	if (!file->error)
		ferry__contents_store(file, &place, read_open(of, rest, &place));
	store_need(file, rest, of->is_part && !file->error && place.length == place.limit);
	ferry__call_close(of->member, of->fd);
}

void ferry__contents_read(struct member *member, int dir, const char *name, unsigned int flags,
			  const struct statx *stat, struct ferry_file *file,
			  struct shared_arena *arena)
{
	long fd = open_file(member, dir, name, flags);

	ferry__contents_none(file, fd < 0 ? (int)fd : 0);
	if (fd >= 0)
		read_and_close(&(struct reading){ .member = member, .fd = (int)fd }, flags, stat,
			       file, arena);
}

/* FD is what opening the file returned. */
static void read_opened(struct member *member, long fd, unsigned int flags, struct ferry_file *file,
			struct shared_arena *arena)
{
	struct reading of = { .member = member, .fd = (int)fd };
	struct statx stat;

	ferry__contents_none(file, fd < 0 ? (int)fd : 0);
	if (fd < 0)
		return;
	file->error = (int)ferry__call_fstat(member, of.fd, &stat);
	if (!file->error)
		file->error = ferry__contents_allowed(&stat, flags);
	if (file->error)
		ferry__call_close(member, of.fd);
	else
		read_and_close(&of, flags, &stat, file, arena);
}

void ferry__contents_open_first(struct member *member, int dir, const char *name,
				unsigned int flags, struct ferry_file *file,
				struct shared_arena *arena)
{
	read_opened(member, open_file(member, dir, name, flags), flags, file, arena);
}

/* ---- in parts ---- */

static int read_parts(const struct reading *of, char *buffer, size_t size, take_part *take,
		      void *context)
{
	size_t offset = 0;
	long n;

	while ((n = read_some(of, buffer, size, offset)) > 0) {
		if (!take(context, buffer, (size_t)n, offset))
			return 0;
		offset += (size_t)n;
	}
	return (int)n;
}

int ferry__contents_in_parts(struct member *member, int dir, const char *name, unsigned int flags,
			     char *buffer, size_t size, take_part *take, void *context)
{
	struct reading of = { .member = member };
	struct statx stat;
	long error = 0, fd;

	if (!(flags & FERRY_READ_OPEN_FIRST)) {
		error = ferry__call_statx(member, dir, name, ferry__contents_look_flags(flags),
					  CONTENTS_MASK, &stat);
		if (!error)
			error = ferry__contents_allowed(&stat, flags);
	}
	fd = error ? error : open_file(member, dir, name, flags);
	if (fd < 0)
		return (int)fd;
	of.fd = (int)fd;
	error = ferry__call_fstat(member, of.fd, &stat);
	if (!error)
		error = ferry__contents_allowed(&stat, flags);
	of.by_position = !error && is_regular(&stat);
	if (!error)
		error = read_parts(&of, buffer, size, take, context);
	ferry__call_close(member, of.fd);
	return (int)error;
}

/* ---- where the kernel looks at the type, before it opens a file ---- */

#ifndef OPENAT2_REGULAR
#define OPENAT2_REGULAR (1ULL << 32) /* include/uapi/linux/openat2.h of Linux 7.3 */
#endif

static const struct open_how regular = { .flags = CONTENTS_OPEN | OPENAT2_REGULAR };
static const struct open_how regular_nofollow = {
	.flags = CONTENTS_OPEN | OPENAT2_REGULAR | O_NOFOLLOW,
};

bool ferry__contents_can_open_regular(void)
{
	static atomic_int known; /* 1 or -1, or 0 before the first call */
	int answer = atomic_load_explicit(&known, memory_order_relaxed);

	if (!answer) {
		/* The kernel checks the flags first, and only then the name. */
		answer = ferry__call_openat2(NULL, -1, "", &regular) == -ENOENT ? 1 : -1;
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer > 0;
}

bool ferry__contents_open_regular(struct member *member, int dir, const char *name,
				  unsigned int flags, struct ferry_file *file,
				  struct shared_arena *arena)
{
	long fd = ferry__call_openat2(member, dir, name,
				      flags & FERRY_READ_NOFOLLOW ? &regular_nofollow : &regular);

	/* To look at one that hangs would take another time limit. */
	if (fd < 0 && fd != -ETIMEDOUT && fd != -ECANCELED)
		return false;
	read_opened(member, fd, flags & ~FERRY_READ_DEVICES, file, arena);
	return true;
}

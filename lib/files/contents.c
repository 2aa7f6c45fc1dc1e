// SPDX-License-Identifier: MIT
#include "contents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
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

/* An open file that is being read. */
struct reading {
	struct member *member;
	int fd;
	bool by_position; /* pread(), which cannot consume what a FIFO holds */
};

static long read_some(const struct reading *of, void *into, size_t size, size_t offset)
{
	if (of->by_position)
		return ferry__call_pread(of->member, of->fd, into, size, (long)offset);
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

static int read_open(struct reading *of, const struct statx *stat, struct place *place)
{
	size_t size = of->by_position ? stat->stx_size : 0;
	int error = read_contents(of, place, size);

	/* Some regular files in /proc and /sys cannot be read at a position. */
	if (error == -ESPIPE && of->by_position && opened_regular(of)) {
		of->by_position = false;
		error = read_contents(of, place, 0);
	}
	return error == -ESPIPE ? -EOPNOTSUPP : error;
}

void ferry__contents_store(struct ferry_file *file, struct place *place, int error)
{
	bool keep = !error || error == -EFBIG;

	if (!keep)
		place->length = 0;
	ferry__place_trim(place);
	file->error = error;
	file->length = place->length;
	if (keep)
		file->data = place->data;
}

static void read_and_close(struct reading *of, const struct statx *stat, struct ferry_file *file,
			   struct shared_arena *arena)
{
	struct place place;

	of->by_position = is_regular(stat);
	file->error = ferry__place_init(&place, file, stat->stx_size, arena);
	if (!file->error)
		ferry__contents_store(file, &place, read_open(of, stat, &place));
	ferry__call_close(of->member, of->fd);
}

void ferry__contents_read(struct member *member, int dir, const char *name,
			  const struct statx *stat, struct ferry_file *file,
			  struct shared_arena *arena)
{
	long fd = ferry__call_open(member, dir, name, CONTENTS_OPEN);

	file->length = 0;
	file->error = fd < 0 ? (int)fd : 0;
	if (fd >= 0)
		read_and_close(&(struct reading){ .member = member, .fd = (int)fd }, stat, file,
			       arena);
}

/* FD is what opening the file returned. */
static void read_opened(struct member *member, long fd, unsigned int flags, struct ferry_file *file,
			struct shared_arena *arena)
{
	struct reading of = { .member = member, .fd = (int)fd };
	struct statx stat;

	file->length = 0;
	file->error = fd < 0 ? (int)fd : 0;
	if (fd < 0)
		return;
	file->error = (int)ferry__call_fstat(member, of.fd, &stat);
	if (!file->error)
		file->error = ferry__contents_allowed(&stat, flags);
	if (file->error)
		ferry__call_close(member, of.fd);
	else
		read_and_close(&of, &stat, file, arena);
}

void ferry__contents_open_first(struct member *member, int dir, const char *name,
				unsigned int flags, struct ferry_file *file,
				struct shared_arena *arena)
{
	read_opened(member, ferry__call_open(member, dir, name, CONTENTS_OPEN), flags, file, arena);
}

/* ---- where the kernel looks at the type, before it opens a file ---- */

#ifndef OPENAT2_REGULAR
#define OPENAT2_REGULAR (1ULL << 32) /* include/uapi/linux/openat2.h of Linux 7.3 */
#endif

static const struct open_how regular = { .flags = CONTENTS_OPEN | OPENAT2_REGULAR };

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
				  struct ferry_file *file, struct shared_arena *arena)
{
	long fd = ferry__call_openat2(member, dir, name, &regular);

	/* To look at one that hangs would take another time limit. */
	if (fd < 0 && fd != -ETIMEDOUT && fd != -ECANCELED)
		return false;
	read_opened(member, fd, 0, file, arena);
	return true;
}

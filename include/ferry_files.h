/* SPDX-License-Identifier: MIT */
/*
 * Many files in one call: their attributes, their contents, and the entries of a tree.
 * libferry_files(3) describes the functions.
 *
 * Functions return a count or -errno.  Nothing here touches errno.  Any thread may call any
 * function at any time; a signal handler may not.
 */
#ifndef FERRY_FILES_H
#define FERRY_FILES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct statx; /* see statx(2) */

/** How a call does its work.  All zero is the default, and so is NULL. */
struct ferry_files_options {
	/** The maximum number of threads, including the calling one.  0: as many as help. */
	unsigned int threads;

	/**
	 * The time limit for one system call, in milliseconds, or 0 for none.  An item that takes
	 * longer fails with -ETIMEDOUT, and the others go on.  A thread that hangs stays behind.
	 */
	unsigned int timeout_ms;

	/** The call ends soon after *cancel is no longer 0.  May be NULL. */
	const int *cancel;

	/**
	 * Called in the calling thread about ten times a second, with the number of items done.
	 * The call ends soon after it returns anything but 0.  May be NULL.
	 */
	int (*progress)(void *context, size_t done);

	/** The first argument of progress. */
	void *context;
};

/* ---- attributes ---- */

/**
 * Calls statx(DIR, names[i], FLAGS, MASK, &stats[i]) for each of the COUNT names and stores 0 or
 * -errno in errors[i].  Where that is an error, stats[i] is undefined.  The calls run in any
 * order, and several at a time.  STATS may be NULL when only the errors matter.
 *
 * Returns how many names failed, or -EINVAL when NAMES or ERRORS is NULL, or -ECANCELED: the
 * names that were not reached then have the error -ECANCELED.
 */
long ferry_statx_many(int dir, const char *const names[], size_t count, int flags,
		      unsigned int mask, struct statx *stats, int errors[],
		      const struct ferry_files_options *options);

/* ---- contents ---- */

/** A file to be read, and what was read. */
struct ferry_file {
	/** Where the contents go, or NULL for a place in the arena, which is then stored here. */
	void *data;

	/** Bytes at data; if data is NULL, the maximum to read, or 0 for no limit. */
	size_t room;

	/** Bytes that were read. */
	size_t length;

	/** 0 or -errno. */
	int error;
};

/** Memory of the caller for files whose sizes are not known.  Its size limits their total. */
struct ferry_arena {
	void *memory;
	size_t size; /* bytes */
	size_t used; /* bytes; set it to 0 to begin again */
};

/** Reads character and block devices too.  They are opened with O_NONBLOCK. */
#define FERRY_READ_DEVICES 0x1u

/**
 * Opens each file before checking its type, which saves a call.  A FIFO or a device is still not
 * read, but opening it may have side effects: a program that waits to write to the FIFO continues,
 * a tape rewinds.  Use it for names that are known to be regular files.
 */
#define FERRY_READ_OPEN_FIRST 0x2u

/**
 * Reads each of the COUNT files, from its start to its end, as it is at that time.  files[i] says
 * where names[i], a name relative to DIR as in openat(2), goes, and receives the result.
 * ARENA may be NULL if each file has a place.  Each file starts at a multiple of 16 in the arena.
 * Symbolic links are followed.  The call never waits for a FIFO, a socket or a terminal.
 *
 * A file's error is that of statx(2), openat(2) or read(2), or -EFBIG for a file with more than
 * room bytes, the first of which were read; -ENOBUFS when the arena has no room for it;
 * -EISDIR for a directory; -ENXIO for a socket; -EOPNOTSUPP for a FIFO, and for a
 * device without FERRY_READ_DEVICES.  After an error other than -EFBIG length is 0, and data
 * is what it was.
 *
 * Returns how many files failed, or -EINVAL for NULL or other FLAGS, or -ECANCELED: the files
 * that were not reached then have the error -ECANCELED.
 */
long ferry_read_files(int dir, const char *const names[], size_t count, unsigned int flags,
		      struct ferry_file files[], struct ferry_arena *arena,
		      const struct ferry_files_options *options);

/* ---- trees ---- */

/** A name in a directory. */
struct ferry_walk_entry {
	/** Without a slash; the name of the root is the path that was given. */
	const char *name;

	/** With the fields that were asked for, or NULL: none were, or there is an error. */
	const struct statx *stat;

	/** The inode number in the directory; 0 for the root. */
	unsigned long inode;

	/** NULL; the callback may set it for a directory, whose blocks then carry it. */
	void *context;

	/** 0, or -errno of statx(2). */
	int error;

	/** DT_REG and so on, of readdir(3), or DT_UNKNOWN after an error. */
	unsigned char type;

	/** 0; the callback may set it to keep the walk out of a directory. */
	unsigned char prune;
};

/** Some or all entries of one directory.  All of it is valid until the callback returns. */
struct ferry_block {
	/** The directory, beginning with the path of the root; "" for the root itself. */
	const char *path;
	size_t path_length;

	/** What the callback stored in the directory's entry. */
	void *context;

	/** Without "." and "..". */
	struct ferry_walk_entry *entries;
	size_t count;

	/**
	 * The directory, open; the walk's own DIR for the root itself; -1 in all other blocks of a
	 * sorted walk, and after an error.
	 */
	int dir;

	/** Of the entries: 0 for the root. */
	unsigned int depth;

	/**
	 * 0, or why the directory could not be read to its end: count is 0 then.  -ELOOP: it is one
	 * of the directories above itself.
	 */
	int error;
};

#define FERRY_WALK_FOLLOW 0x1u	    /* follow all symbolic links, as FTS_LOGICAL does */
#define FERRY_WALK_FOLLOW_ROOT 0x2u /* follow the root if it is one, as FTS_COMFOLLOW does */
#define FERRY_WALK_XDEV 0x4u	    /* stay out of directories on other devices than the root */
#define FERRY_WALK_SORTED 0x8u	    /* see below */

/**
 * Walks the tree at PATH, relative to DIR, and passes every entry to BLOCK, with the fields in
 * MASK, those of statx(2), or with only its type if MASK is 0.  The first block has one entry, the
 * root itself.  The walk descends into each directory that the callback has not pruned.
 *
 * Blocks are passed one at a time, by any of the worker threads.  With FERRY_WALK_SORTED each
 * directory is one block, its entries are in the order of strcmp(3), and blocks come in the order
 * in which a recursive function would visit them.  Without it, a directory may come in several
 * blocks, at any time after the block with its own entry.
 *
 * A dangling symbolic link is passed as an entry itself, even if links are followed.
 *
 * Returns 0, or what the callback returned if that was not 0, which ends the walk; -EINVAL for
 * NULL or other FLAGS, -ENOMEM, or -ECANCELED.
 */
int ferry_walk(int dir, const char *path, unsigned int flags, unsigned int mask,
	       int (*block)(void *context, struct ferry_block *block), void *context,
	       const struct ferry_files_options *options);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FERRY_FILES_H */

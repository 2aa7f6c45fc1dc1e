/* SPDX-License-Identifier: MIT */
/*
 * Many files in one call: their attributes, their contents, and the entries of a tree.
 * The contract is in ferry_statx_many(3), ferry_read_files(3), ferry_walk(3) and libferry_files(3).
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
	unsigned int threads;	 /* at most, including the calling one; 0: as many as help */
	unsigned int timeout_ms; /* for one system call; 0: none */
	const int *cancel;	 /* the call ends soon after *cancel is no longer 0; may be NULL */

	/* Called in the calling thread about ten times a second; not 0 ends the call; may be NULL.
	 */
	int (*progress)(void *context, size_t done);
	void *context; /* the first argument of progress */
};

/* ---- attributes ---- */

/**
 * Calls statx(DIR, names[i], FLAGS, MASK, &stats[i]) for each name and stores 0 or -errno in
 * errors[i].  STATS may be NULL.  Returns how many names failed, or -errno.
 */
long ferry_statx_many(int dir, const char *const names[], size_t count, int flags,
		      unsigned int mask, struct statx *stats, int errors[],
		      const struct ferry_files_options *options);

/* ---- contents ---- */

/** A file to be read, and the result. */
struct ferry_file {
	void *data;    /* where the contents go; NULL: into the arena, and stored here */
	size_t room;   /* bytes at data; if that is NULL, the maximum to read, or 0 for no limit */
	size_t length; /* bytes that were read */
	int error;     /* 0 or -errno; -EFBIG: the first room bytes were read */
};

/** Memory of the caller for files whose sizes are not known.  Its size limits their total. */
struct ferry_arena {
	void *memory;
	size_t size; /* bytes */
	size_t used; /* bytes; set it to 0 to begin again */
};

#define FERRY_READ_DEVICES 0x1u	   /* read character and block devices too */
#define FERRY_READ_OPEN_FIRST 0x2u /* open before checking the type: opening may have effects */

/**
 * Reads each of the COUNT files from its start to its end, to the place in files[i], and stores
 * the result there.  ARENA may be NULL if each file has a place.  Never waits for a FIFO, a
 * socket or a terminal.  Returns how many files failed, or -errno.
 */
long ferry_read_files(int dir, const char *const names[], size_t count, unsigned int flags,
		      struct ferry_file files[], struct ferry_arena *arena,
		      const struct ferry_files_options *options);

/* ---- trees ---- */

/** A name in a directory. */
struct ferry_walk_entry {
	const char *name; /* without a slash; the name of the root is the path that was given */
	const struct statx *stat; /* the fields that were asked for; NULL: none, or an error */
	unsigned long inode;	  /* in the directory; 0 for the root */
	void *context;		  /* NULL; the callback may set it for the blocks of a directory */
	int error;		  /* 0, or -errno of statx(2) */
	unsigned char type;  /* DT_REG and so on, of readdir(3), or DT_UNKNOWN after an error */
	unsigned char prune; /* 0; the callback may set it to keep the walk out of a directory */
};

/** Some or all entries of one directory.  All of it is valid until the callback returns. */
struct ferry_block {
	const char *path; /* begins with the path of the root; "" for the root itself */
	size_t path_length;
	void *context;			  /* as the callback set it in the directory's entry */
	struct ferry_walk_entry *entries; /* without "." and ".." */
	size_t count;
	int dir;	    /* the directory, open; -1 after an error and in a sorted walk */
	unsigned int depth; /* of the entries: 0 for the root */
	int error; /* 0, or why the directory was not read to its end; -ELOOP: it is above itself */
};

#define FERRY_WALK_FOLLOW 0x1u	    /* follow all symbolic links, as FTS_LOGICAL does */
#define FERRY_WALK_FOLLOW_ROOT 0x2u /* follow the root if it is one, as FTS_COMFOLLOW does */
#define FERRY_WALK_XDEV 0x4u	    /* stay out of directories on other devices than the root */
#define FERRY_WALK_SORTED 0x8u	    /* a directory is one block, in the order of a recursion */

/**
 * Walks the tree at PATH, relative to DIR, and passes every entry to BLOCK, one block at a time,
 * with the fields in MASK of statx(2), or with only its type if MASK is 0.  Returns 0, the
 * callback's result if that was not 0, which ends the walk, or -errno.
 */
int ferry_walk(int dir, const char *path, unsigned int flags, unsigned int mask,
	       int (*block)(void *context, struct ferry_block *block), void *context,
	       const struct ferry_files_options *options);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FERRY_FILES_H */

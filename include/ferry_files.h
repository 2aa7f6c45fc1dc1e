/* SPDX-License-Identifier: MIT */
/*
 * Many files in one call: their attributes, their contents, and the entries of a tree.
 * The contract is in ferry_statx_many(3), ferry_call_many(3), ferry_read_files(3),
 * ferry_read_each(3), ferry_walk(3) and libferry_files(3).
 *
 * Functions return a count or -errno.  Nothing here touches errno.  Any thread may call any
 * function at any time; a signal handler may not.  A callback must return: an exception or
 * longjmp() that leaves it would leave the threads of the call running, and on a thread of the
 * library it ends the process.
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

/* ---- one call for each name ---- */

enum ferry_name_call {
	FERRY_NAME_OPEN,     /* openat(): the result is a descriptor */
	FERRY_NAME_READLINK, /* readlinkat(): the target goes to the name's part of memory */
	FERRY_NAME_GETXATTR, /* getxattr() or lgetxattr(): the value goes there */
	FERRY_NAME_UNLINK,   /* unlinkat() */
	FERRY_NAME_MKDIR,    /* mkdirat() */
	FERRY_NAME_LINK,     /* linkat(), to the name in others */
	FERRY_NAME_CALLS
};

/** A system call that is made for each name.  Set members that the call does not use to 0. */
struct ferry_name_work {
	enum ferry_name_call call;
	int flags;	       /* of open, unlink and link; AT_SYMLINK_NOFOLLOW for getxattr */
	unsigned int mode;     /* of open and mkdir */
	const char *attribute; /* of getxattr */
	char *memory;	       /* of readlink and getxattr: room bytes for each name, in order */
	size_t room;	       /* bytes */
	int other_dir;	       /* of link: what others are relative to */
	const char *const *others; /* of link: the new name for each name */
};

/**
 * Makes the call WORK for each of the COUNT names, relative to DIR, in any order, and stores its
 * result, or -errno, in results[i].  Returns how many failed, or -errno.
 */
long ferry_call_many(int dir, const char *const names[], size_t count,
		     const struct ferry_name_work *work, long results[],
		     const struct ferry_files_options *options);

/* ---- contents ---- */

/** A file to be read, and the result.  The caller sets the first three, the function the rest. */
struct ferry_file {
	void *buffer; /* where the contents go; NULL: into the arena */
	size_t room;  /* bytes at buffer; if that is NULL, the maximum to read, or 0 for no limit */
	unsigned long long offset; /* of the first byte to read */

	void *data;    /* the contents: buffer, or a place in the arena; NULL: none were read */
	size_t length; /* bytes that were read */
	unsigned long long needed; /* bytes from offset to the end, as far as they are known */
	int error;		   /* 0 or -errno; -EFBIG: the first room bytes were read */
};

/** Memory of the caller for files whose sizes are not known.  Its size limits their total. */
struct ferry_arena {
	void *memory;
	size_t size; /* bytes */
	size_t used; /* bytes; set it to 0 to begin again */
};

#define FERRY_READ_DEVICES 0x1u	   /* read character and block devices too */
#define FERRY_READ_OPEN_FIRST 0x2u /* open before checking the type: opening may have effects */
#define FERRY_READ_NOFOLLOW 0x10u  /* -ELOOP for a name that is a symbolic link */
#define FERRY_READ_PART 0x20u	   /* ferry_read_files(): room bytes are enough: no -EFBIG */

/**
 * Reads each of the COUNT files from its start to its end, to the place in files[i], and stores
 * the result there.  ARENA may be NULL if each file has a place.  Never waits for a FIFO, a
 * socket or a terminal.  Returns how many files failed, or -errno.
 */
long ferry_read_files(int dir, const char *const names[], size_t count, unsigned int flags,
		      struct ferry_file files[], struct ferry_arena *arena,
		      const struct ferry_files_options *options);

/** The contents of a file, or the next part of a large one.  Valid until the callback returns. */
struct ferry_contents {
	size_t index; /* of the file in the array of names */
	const void *data;
	size_t length;		   /* bytes at data */
	unsigned long long offset; /* of data in the file, bytes */
	int is_last;		   /* not 0: no part of this file follows */
	int error;		   /* 0 or -errno; then this is the last part, and empty */
};

#define FERRY_READ_IN_ORDER 0x4u   /* ferry_read_each(): pass files on in the order of names */
#define FERRY_READ_CONCURRENT 0x8u /* ferry_read_each(): several threads may be in the callback */

/**
 * Reads each of the COUNT files, and passes it to EACH while others are being read.  Takes up to
 * MEMORY bytes for contents, or if that is 0, 16 MiB; files that are too large for that are passed
 * on in parts.  EACH is called by any of the threads, one call at a time, and returns 0, or a
 * negative number, which ends the reading.  Returns that number, or how many files failed, or
 * -errno.
 */
long ferry_read_each(int dir, const char *const names[], size_t count, unsigned int flags,
		     size_t memory,
		     int (*each)(void *context, const struct ferry_contents *contents),
		     void *context, const struct ferry_files_options *options);

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
	int is_end; /* not 0: all below the directory has been passed on */
};

#define FERRY_WALK_FOLLOW 0x1u	    /* follow all symbolic links, as FTS_LOGICAL does */
#define FERRY_WALK_FOLLOW_ROOT 0x2u /* follow the root if it is one, as FTS_COMFOLLOW does */
#define FERRY_WALK_XDEV 0x4u	    /* stay out of directories on other devices than the root */
#define FERRY_WALK_SORTED 0x8u	    /* a directory is one block, in the order of a recursion */
#define FERRY_WALK_ENDS 0x10u	    /* a block more for each directory, after all below it */

/**
 * Walks the tree at PATH, relative to DIR, and passes every entry to BLOCK, one block at a time,
 * with the fields in MASK of statx(2), or with only its type if MASK is 0.  Returns 0, the
 * callback's result if that was not 0, which ends the walk, or -errno; an error of the root itself
 * is passed on and returned.
 */
int ferry_walk(int dir, const char *path, unsigned int flags, unsigned int mask,
	       int (*block)(void *context, struct ferry_block *block), void *context,
	       const struct ferry_files_options *options);

/**
 * Which entries of a walk are passed on; the root always is.  Lists end with NULL, and may be NULL.
 * Patterns have the form and meaning of lines of gitignore(5), relative to the root.
 */
struct ferry_walk_filter {
	unsigned int max_depth;	    /* of entries; 0: none */
	int hide;		    /* not 0: leave out names that begin with a dot */
	const char *const *include; /* leave out all but directories and what matches */
	const char *const *exclude; /* leave out what matches, and all below it */
	const char *ignore_file;    /* the same by files of this name, such as ".gitignore" */
};

/** ferry_walk() without the entries that FILTER leaves out.  FILTER may be NULL. */
int ferry_walk_filtered(int dir, const char *path, unsigned int flags, unsigned int mask,
			const struct ferry_walk_filter *filter,
			int (*block)(void *context, struct ferry_block *block), void *context,
			const struct ferry_files_options *options);

/**
 * Writes the path of ENTRY, which is in BLOCK, and a NUL to the ROOM bytes at INTO, or what fits.
 * Returns the length of the whole path without the NUL.
 */
size_t ferry_walk_entry_path(const struct ferry_block *block, const struct ferry_walk_entry *entry,
			     char *into, size_t room);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* FERRY_FILES_H */

/* SPDX-License-Identifier: MIT */
/*
 * The world that programs run in: memory at fixed addresses, descriptors with
 * fixed numbers, files that are reset before each run.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "program.h"

/* ---- memory: a PROT_NONE page precedes and follows each area ---- */

#define SLOTS_AT 0x200000000000UL   /* the program's slots */
#define RETS_AT 0x200010000000UL    /* its results */
#define BUFFERS_AT 0x200020000000UL /* for reading and writing */
#define STAT_AT 0x200030000000UL    /* only for fstat: its times are not compared */
#define POOL_AT 0x200040000000UL    /* read-only words and names, see generate.c */
#define WINDOW_AT 0x200050000000UL  /* for mmap and munmap; unmapped at first */
#define NOWHERE_AT 0x200060000000UL /* never mapped */

#define BUFFERS_SIZE 16384UL
#define POOL_SIZE 8192UL
#define WINDOW_PAGES 4UL
#define PAGE 4096UL
#define STATS 4UL
#define STAT_SIZE 256UL

/* ---- descriptors at the start of a program ---- */

enum {
	FD_DISK = 3,   /* a regular file on a disk */
	FD_TWIN,       /* its duplicate: one offset */
	FD_READ_ONLY,  /* the same file, opened separately, read-only */
	FD_MEMORY,     /* a regular file in memory */
	FD_APPEND,     /* the same, opened separately with O_APPEND */
	FD_PIPE_READ,  /* a small nonblocking pipe ... */
	FD_PIPE_WRITE, /* ... and its other end */
	FD_BROKEN,     /* a pipe without a reader */
	FD_SOCKET,     /* a nonblocking stream socket ... */
	FD_PEER,       /* ... and its peer */
	FD_EVENT,      /* a nonblocking eventfd */
	FD_NULL,       /* /dev/null */
	FD_ZERO,       /* /dev/zero */
	FD_FULL,       /* /dev/full */
	FD_DIRECTORY,  /* an empty directory */
	FD_ANY_RESULT, /* /proc/self/mem: lseek returns its argument */
	FD_FREE,       /* from here on, none is open */
	FD_LIMIT = 48, /* programs use numbers below */
};

/*
 * The number of the descriptor of engine 'device'.  A length may have this value, so it is
 * open, and the same file, with all engines.
 */
#define FD_DEVICE 1000

/* Not among a program's own descriptors, but used in some of its slots. */
#define FD_IMAGES 16098 /* a read-only file of slots that are safe anywhere */
#define FD_ZEROES 16099 /* /dev/zero that nothing replaces */

#define FILE_LIMIT 12288UL /* RLIMIT_FSIZE */
#define FILE_START 5000UL  /* the size of both files at first */
#define NAMES 4		   /* of files in the directory, in the pool: NAME_AT(i) */
#define NAME_AT(i) (POOL_AT + POOL_SIZE - PAGE / 2 + 16UL * (i))

/* ---- running ---- */

struct runner {
	const char *name;
	int engine; /* an enum ferry_engine, or -1 for the model */
	int bug;    /* of the model: an enum bug */
};

struct outcome; /* everything that can be observed after a run */

struct outcome *outcome_new(void);

/*
 * Makes the world in this process, with DIRECTORY for its directory; ends the
 * process with a message if that fails.  Standard input, output and error become /dev/null.
 */
void world_make(const char *directory);

/* Puts PROGRAM into a fresh world, runs it with RUNNER and records the OUTCOME. */
void world_run(const struct program *program, const struct runner *runner, struct outcome *outcome);

/* Whether the world's own descriptors are unchanged; if not, makes them again. */
bool world_mend(void);

/* Whether A and B, both of PROGRAM, differ; prints how to OUT unless that is NULL. */
bool outcomes_differ(const struct program *program, const struct outcome *a,
		     const struct outcome *b, const char *name_a, const char *name_b, FILE *out);

/* ---- the contents of the pool (generate.c) ---- */

/* Fills the POOL_SIZE bytes of the pool, and the images file: COUNT slots. */
#define IMAGES 64UL
void pool_fill(unsigned char pool[]);
void images_fill(struct batch_slot images[]);

#endif /* WORLD_H */

/* SPDX-License-Identifier: MIT */
/* A site in a program where calls are made. */
#ifndef TRACE_STACKS_SITE_H
#define TRACE_STACKS_SITE_H

#include <stddef.h>
#include <stdint.h>

#define FRAMES_MAX 12

/* A function that called the next one, or made the call. */
struct frame {
	uint64_t address;
	const char *module;   /* the last part of its file's name, or NULL: code of no file */
	uint64_t offset;      /* in the module, as its own symbols count */
	const char *function; /* the symbol that covers it, or NULL */
	const char *source;   /* where debugging information is found, or NULL: */
	int line;
};

struct site {
	double share;		     /* of the calls whose callers were looked for */
	struct frame of[FRAMES_MAX]; /* from the one that made the call */
	size_t count, first;	     /* the frames before FIRST are of the C library */
};

struct sites {
	struct site *of; /* the most frequent first; kept */
	size_t count;
	size_t stacks; /* that were looked at */
};

#endif /* TRACE_STACKS_SITE_H */

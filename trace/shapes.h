/* SPDX-License-Identifier: MIT */
/* What the arguments of calls are, as far as their flow matters. */
#ifndef TRACE_SHAPES_H
#define TRACE_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "call.h"

struct shape {
	const char *name;

	/*
	 * A letter for each argument:
	 *   d  descriptor
	 *   p  path, which the call reads
	 *   n  number
	 *   l  length of the buffer before it
	 *   a  address of a mapping
	 *   r  buffer, which the call fills      w  buffer, which the call reads
	 *   s  structure, which the call fills   t  structure, which the call reads
	 */
	const char *args;

	char result;					   /* d, l, a, or 0 for a status */
	unsigned short size;				   /* of the structure s, or 0 */
	enum { NEVER_WAITS, WAITS, WAITS_FOR_PEER } waits; /* the last: unless it is a file */
};

static inline bool is_transfer(int nr)
{
	return nr == SYS_read || nr == SYS_write || nr == SYS_pread64 || nr == SYS_pwrite64;
}

/** The shape of call NR, or NULL where none is known. */
const struct shape *shape_of(int nr);

/** The kind of argument K, or 0. */
static inline char kind_of(const struct shape *shape, int k)
{
	const char *kind = shape ? shape->args : "";

	for (; k && *kind; k--)
		kind++;
	return *kind;
}

/** The first argument of kind KIND, or -1. */
int argument_of_kind(const struct shape *shape, char kind);

/** Whether CALL may wait, whatever file it works on. */
bool waits_for_others(const struct traced_call *call);

#endif /* TRACE_SHAPES_H */

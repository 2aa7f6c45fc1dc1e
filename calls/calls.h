/* SPDX-License-Identifier: MIT */
/* The table of system calls, calls.txt, as C. */
#ifndef CALLS_CALLS_H
#define CALLS_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <ferry/blocked.h>

/* Who may make a call for a thread. */
enum call_who {
	ANY_RUNNER = 1, /* any thread of the process */
	ALIKE_RUNNER,	/* a thread that may do exactly what the caller may do */
	CALLER_ONLY,
	CHANGES_RIGHTS, /* the caller only, whose rights the call changes */
	IN_NO_BATCH,	/* the caller only, outside of batches */
};

/* For what a call may wait. */
enum call_waits {
	NEVER_WAITS,
	WAITS_FOR_DISK,
	WAITS_FOR_FIFO, /* or for the disk */
	WAITS_FOR_FILE, /* for the disk or the other end, as the file is */
	WAITS_FOR_EVENT,
};

struct call_argument {
	/*
	 *   d  descriptor
	 *   p  path or other string, which the call reads
	 *   n  number                            l  length in bytes of a buffer
	 *   a  address, as of a mapping or a futex
	 *   r  buffer, which the call fills      w  buffer, which the call reads
	 *   s  structure, which the call fills   t  structure, which the call reads
	 *   x  structure, which the call reads and fills
	 *   ?  address or number, as other arguments say
	 */
	char kind;	     /* 0: there is no such argument */
	signed char length;  /* the argument by which SIZE is multiplied, or -1 */
	unsigned short size; /* bytes; 0: not known */
};

struct call {
	const char *name;   /* NULL: no call has this number */
	const char *reason; /* why not any runner may make it, or NULL */
	struct call_argument args[6];
	unsigned char most, least; /* arguments that it takes and needs */
	char result;		   /* a kind: d, a, l for a length, or 0 */
	unsigned char who, waits;
	bool acts_on_others; /* other processes, or the whole system */
};

extern const struct call ferry__calls[SUBCALL_NR_LIMIT];

/** Call NR, or NULL where it is not known. */
static inline const struct call *known_call(long nr)
{
	return nr >= 0 && nr < SUBCALL_NR_LIMIT && ferry__calls[nr].name ? &ferry__calls[nr] : NULL;
}

/** The bytes to which argument K points in a call with ARGS, as far as known; else 0. */
static inline unsigned long call_argument_size(const struct call *call, int k,
					       const unsigned long args[])
{
	const struct call_argument *argument = &call->args[k];

	return argument->size * (argument->length < 0 ? 1 : args[argument->length]);
}

#endif /* CALLS_CALLS_H */

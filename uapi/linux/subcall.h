/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/* System calls that make others; batch(2) describes them. */
#ifndef _UAPI_LINUX_SUBCALL_H
#define _UAPI_LINUX_SUBCALL_H

#include <linux/types.h>

#define BATCH_VERSION 3

/* Slot number of the word copy: *(long *)arg[0] = *(long *)arg[1]. */
#define BATCH_WDCPY (-2)

#define BATCH_MAX_ARGS 6

/* Bit 7 of argc: from[] is in use and the reserved byte must be 0. */
#define BATCH_ARGC_FORWARD 0x80

/* Results in -BATCH_MAX_ERRNO .. -1 are failures. */
#define BATCH_MAX_ERRNO 4095

/* No address space holds more slots: batch() refuses a larger number with -EINVAL. */
#define BATCH_MAX_SLOTS ((1UL << 57) - 1)

/*
 * One system call of a batch: 64 bytes, a cache line.  A jump is the number of
 * slots to skip after a result of its kind; a negative jump ends the batch.
 * The layout is that of syscall_t in c-blake/batch, with from[] and reserved in its padding.
 */
struct batch_slot {
	__s16 nr;		   /* call number, or BATCH_WDCPY */
	__s16 jump_fail;	   /* result in -4095 .. -1 */
	__s16 jump_zero;	   /* result 0 */
	__s16 jump_pos;		   /* any other result */
	__u8 argc;		   /* 0 .. 6, and BATCH_ARGC_FORWARD */
	__u8 from[BATCH_MAX_ARGS]; /* from[k] = d > 0: argument k of slot i is rets[i - d] */
	__u8 reserved;		   /* 0 */
	__s64 arg[BATCH_MAX_ARGS];
} __attribute__((__may_alias__)); /* programs hold their slots as syscall_t too */

/*
 * long batch(struct batch_args *args, size_t size): the arguments of a batch, and its state.
 * The kernel stores the state when it leaves a batch before its end; user space may then have
 * to do a part of it (batch(2)).  size is the size of the caller's structure, which may grow.
 */
struct batch_args {
	__u64 rets;		/* address of the array of results, a long each */
	__u64 calls;		/* address of the array of struct batch_slot */
	__u64 ncall;		/* number of slots */
	__u64 flags;		/* 0 */
	__u64 position;		/* the index of a slot: 0 at the start */
	__u64 last;		/* in BATCH_BEGIN, the slot that ran before it, if position > 0 */
	__u64 state;		/* the next step of that slot, see below; BATCH_BEGIN at first */
	__s64 result;		/* in BATCH_STORE, its result */
	struct batch_slot slot; /* the slot as it was fetched, except in BATCH_BEGIN */
};

#define BATCH_BEGIN 0	/* run the slot at position next */
#define BATCH_CALL 1	/* make its call; but if batch() failed with EINTR, a handler ended it */
#define BATCH_RESTART 2 /* the same, but restart_syscall(2) continues the call */
#define BATCH_STORE 3	/* store its result */
#define BATCH_ANSWER 4	/* its result is the value that batch() returned: store it */

/* batch(NULL, 0) runs nothing and returns BATCH_VERSION | features << BATCH_FEATURE_SHIFT. */
#define BATCH_VERSION_MASK 0xffL
#define BATCH_FEATURE_SHIFT 8
#define BATCH_FEATURE_WDCPY 0x1L
#define BATCH_FEATURE_FORWARD 0x2L

#endif /* _UAPI_LINUX_SUBCALL_H */

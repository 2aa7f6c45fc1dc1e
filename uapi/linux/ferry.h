/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * ferry's batch ABI: the structures and numbers that user space and the kernel
 * share.  batch(2) describes them.
 */
#ifndef _UAPI_LINUX_FERRY_H
#define _UAPI_LINUX_FERRY_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FERRY_ABI_VERSION 2

/* System call numbers of the ferry kernel series (experimental range). */
#define FERRY_NR_NULL 500
#define FERRY_NR_BATCH 501
#define FERRY_NR_KSTATS 502
#define FERRY_NR_MULTI_PAGE_ALLOC 503
#define FERRY_NR_FLEXSC_REGISTER 504
/* 505 is reserved. */
#define FERRY_NR_FLEXSC_SERVE 506

/* Number of batch under the compatibility option of the series (afs_syscall on x86-64). */
#define FERRY_NR_BATCH_ALIAS 183

/* Slot number of the word copy: *(long *)arg[0] = *(long *)arg[1]. */
#define FERRY_NR_WDCPY (-2)

#define FERRY_MAX_ARGS 6

/* Bit 7 of argc: from[] is in use and the reserved byte must be 0. */
#define FERRY_ARGC_FORWARD 0x80

/* Results in -FERRY_MAX_ERRNO .. -1 are failures. */
#define FERRY_MAX_ERRNO 4095

/* Positions have room for no more, 32 TiB of slots: batch() refuses them with -EINVAL. */
#define FERRY_MAX_SLOTS (1UL << 39)

/*
 * One system call of a batch: 64 bytes, a cache line.  A jump is the number of
 * slots to skip after a result of its kind; a negative one ends the batch.
 * The layout is syscall_t's in c-blake/batch, whose padding from[] and reserved use.
 */
struct ferry_slot {
	__s16 nr;		   /* call number, or FERRY_NR_WDCPY */
	__s16 jump_fail;	   /* result in -4095 .. -1 */
	__s16 jump_zero;	   /* result 0 */
	__s16 jump_pos;		   /* any other result */
	__u8 argc;		   /* 0 .. 6, and FERRY_ARGC_FORWARD */
	__u8 from[FERRY_MAX_ARGS]; /* d > 0: argument k is rets[i - d] */
	__u8 reserved;		   /* 0 */
	__s64 arg[FERRY_MAX_ARGS];
} __attribute__((__may_alias__)); /* programs hold their slots as syscall_t too */

/*
 * flags of batch(): 0, or the query.  batch(NULL, NULL, 0, FERRY_BATCH_QUERY, 0)
 * runs nothing and returns FERRY_ABI_VERSION | features << FERRY_FEATURE_SHIFT.
 */
#define FERRY_BATCH_QUERY 1L

/*
 * A position in a batch: FERRY_BATCH_RESUME, the bits below, and the index of a slot.
 *
 * batch() answers FERRY_BATCH_PARTIAL | position where user space has to make the call of
 * that slot itself; no slot from there on has run.  With FERRY_BATCH_RESTART the slot is in
 * the middle of its call, and restart_syscall(2) continues that.  With FERRY_BATCH_EINTR a
 * handler ended the call, and the slot's result is -EINTR.
 *
 * With a position as flags, batch() continues there.  The kernel passes itself one when it
 * restarts batch() after a signal, with the bits that say how the signal found the slot.
 */
#define FERRY_BATCH_PARTIAL (1L << 62)
#define FERRY_BATCH_RESUME 0x80L
#define FERRY_BATCH_RESTART 0x40L
#define FERRY_BATCH_EINTR 0x20L	      /* a handler ended the call */
#define FERRY_BATCH_INTERRUPTED 0x10L /* the call was made, and interrupted */
#define FERRY_BATCH_NOHAND 0x08L      /* and SA_RESTART does not restart it */
#define FERRY_RESUME_SHIFT 8
#define FERRY_RESUME_INDEX(position) ((position) >> FERRY_RESUME_SHIFT & (FERRY_MAX_SLOTS - 1))
/* How many slots the jump to that slot skipped. */
#define FERRY_SKIPPED_SHIFT 47
#define FERRY_RESUME_SKIPPED(position) ((position) >> FERRY_SKIPPED_SHIFT & 0x7fff)

#define FERRY_VERSION_MASK 0xffL
#define FERRY_FEATURE_SHIFT 8
#define FERRY_FEATURE_WDCPY 0x1L
#define FERRY_FEATURE_FORWARD 0x2L

/*
 * /dev/ferry: FERRY_IOC_BATCH runs batch() with these arguments and returns its result.
 * flags holds the position while signals are handled, as the register of flags does there.
 */
struct ferry_batch_args {
	__u64 rets;  /* address of the array of results, a long each */
	__u64 calls; /* address of the array of struct ferry_slot */
	__u64 ncall; /* number of slots */
	__s64 flags;
	__s64 size; /* 0, or sizeof(struct ferry_slot) */
};

#define FERRY_DEVICE_PATH "/dev/ferry"
#define FERRY_IOC_BATCH _IOWR(0xfe, 1, struct ferry_batch_args)

#endif /* _UAPI_LINUX_FERRY_H */

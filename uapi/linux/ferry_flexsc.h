/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * flexsc: system calls posted to shared entries and run by a thread that stays at
 * it, the runner, in the kernel or in user space.  doc/flexsc.md tells the whole
 * story; this is what the two sides share.  A set of entries belongs to one process
 * and one runner, and holds all state there is: who runs it keeps none besides.
 *
 * No field but `runner` is ever written by both sides at a time, so neither side
 * needs a read-modify-write to post, to take, to complete or to collect.
 *
 * Three pairs of a store and a load must not be reordered, or a wake-up is lost or
 * a call is run twice.  Each has a side that is often walked and one that is
 * seldom:
 *
 *	often				seldom
 *	poster:	status = SUBMITTED	runner:	runner = ASLEEP
 *		[light fence]			[heavy fence]
 *		runner == ASLEEP?		any status == SUBMITTED, gate set?
 *			-> wake it			-> no sleep
 *	runner:	status = DONE		waiter:	argc |= FERRY_ARGC_WAITED
 *		[light fence]			[heavy fence]
 *		argc & WAITED?			status == DONE?
 *			-> wake status			-> no sleep
 *	runner:	begun = 1		user:	gate = CLOSED
 *		[light fence]			[heavy fence]
 *		gate set, or status		begun == 0, then status == SUBMITTED?
 *		no longer SUBMITTED?			-> status = FREE: withdrawn
 *			-> begun = 0, look again
 *
 * The heavy fence is membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), the light one
 * then is for the compiler only.  With FERRY_FLEXSC_FENCES, where membarrier is
 * missing, both are full fences.
 *
 * Besides that, a store to status is a release and a load of it that finds
 * SUBMITTED (the runner's) or DONE (the user's) is an acquire.  begun = 0 after DONE is a
 * release as well, and the load of it an acquire: who withdraws finds DONE then.
 */
#ifndef _UAPI_LINUX_FERRY_FLEXSC_H
#define _UAPI_LINUX_FERRY_FLEXSC_H

#include <linux/ferry.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#define FERRY_FLEXSC_VERSION 1

#define FERRY_FLEXSC_MAX_ENTRIES 4096

/* status: a futex word.  The runner looks for SUBMITTED and stores DONE; the rest is the user's. */
#define FERRY_ENTRY_FREE 0U
#define FERRY_ENTRY_SUBMITTED 1U
#define FERRY_ENTRY_DONE 2U

/* In argc: somebody sleeps on status, or is about to.  Who sets it clears it before collecting. */
#define FERRY_ARGC_WAITED 0x80U

/*
 * begun: not 0 from taking the call until just after DONE.  A kernel's runner that has
 * left in the middle of a call leaves it begun.
 */
#define FERRY_BEGUN 1U
#define FERRY_BEGUN_RESTART 2U /* restart_syscall() goes on with it, in the runner's thread */

/*
 * A posted call: 64 bytes, a cache line.  It runs as a slot of a batch would: a
 * blocked or unknown number, or argc over 6, gives -ENOSYS.  FERRY_NR_BATCH is
 * allowed and runs a batch: arg[] are batch()'s five arguments, of which the runner may
 * change flags, to say where to go on.  What arg[] points to stays valid until DONE.
 */
struct ferry_entry {
	__u32 status;
	__s16 nr;
	__u8 argc;    /* 0 .. 6, and FERRY_ARGC_WAITED */
	__u8 begun;   /* the runner's */
	__s64 result; /* the runner's: valid once DONE, -errno on failure */
	__s64 arg[FERRY_MAX_ARGS];
} __attribute__((__aligned__(64)));

/* flags of a set */
#define FERRY_FLEXSC_FENCES 1U /* no membarrier: both sides of every pair make full fences */
#define FERRY_FLEXSC_TIMES 2U  /* see below */

/*
 * FERRY_FLEXSC_TIMES: the runner stores in arg[4] and arg[5] when it took and when it had
 * run a call (CLOCK_MONOTONIC, ns), before DONE.
 */

/*
 * runner: a futex word.  The runner stores RUNNING when it begins to serve and when
 * it gets up, ASLEEP before it sleeps, ABSENT when it leaves for good (gate STOP).
 * Whoever wakes it changes ASLEEP to RUNNING by compare-exchange first, and only
 * the one who succeeds makes the futex call.
 */
#define FERRY_RUNNER_ABSENT 0U
#define FERRY_RUNNER_RUNNING 1U
#define FERRY_RUNNER_ASLEEP 2U

/* gate: written by the user's side only, which wakes a runner that sleeps at STOP. */
#define FERRY_GATE_OPEN 0U
#define FERRY_GATE_CLOSED 1U /* the runner takes nothing, for a moment */
#define FERRY_GATE_STOP 2U   /* the runner leaves */

/*
 * A set: two cache lines, then the entries.  It is aligned to 64 bytes, in private
 * memory of the process; futexes on it are private ones.
 */
struct ferry_flexsc_set {
	/* constant from the first flexsc_serve() on */
	__u32 version; /* FERRY_FLEXSC_VERSION */
	__u32 flags;
	__u32 count; /* of entries: a power of two up to FERRY_FLEXSC_MAX_ENTRIES */
	__u32 reserved;
	__u64 spin_ns; /* the longest time without work before the runner sleeps */

	/* read at every call, written seldom: a line of its own */
	__u32 runner __attribute__((__aligned__(64)));
	__u32 gate;

	struct ferry_entry entry[] __attribute__((__aligned__(64)));
};

/*
 * flexsc_register(set, size): whether flexsc_serve() would serve it: 0, -EINVAL for
 * a version, flag, count, size or alignment that is not as above, -EFAULT.  size is in
 * bytes, with the entries.  flexsc_register(NULL, 0) returns
 * FERRY_FLEXSC_VERSION | features << FERRY_FEATURE_SHIFT.
 *
 * flexsc_serve(set): makes the caller the set's runner.  It leaves for signals and goes
 * on afterwards, with a call that is begun first.  Returns
 *	0		the gate is FERRY_GATE_STOP
 *	-EOPNOTSUPP	an entry is begun whose call only user space can make, as one
 *			that a seccomp filter traps: who has made and completed it may
 *			serve again.  Or none is begun: the kernel cannot serve this
 *			thread, user space can.
 *	-EPERM		without FERRY_FLEXSC_FENCES, the process has not registered for
 *			MEMBARRIER_CMD_PRIVATE_EXPEDITED
 *	-EINVAL, -EFAULT	as flexsc_register()
 */
#define FERRY_FLEXSC_FEATURE_MEMBARRIER 1L /* the runner needs no FERRY_FLEXSC_FENCES */

/* /dev/ferry: flexsc_serve(), and with NULL what flexsc_register(NULL, 0) returns. */
#define FERRY_IOC_FLEXSC_SERVE _IO(0xfe, 2)

#endif /* _UAPI_LINUX_FERRY_FLEXSC_H */

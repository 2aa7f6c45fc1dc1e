/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * flexsc: threads post system calls to entries in memory, and a dedicated thread, the
 * runner, makes them, in the kernel or in user space.  doc/flexsc.md describes the
 * design, and this header the protocol of the two sides.  A set of entries belongs
 * to one process and one runner.  It holds all state: the runner keeps none.
 *
 * Apart from `runner`, the two sides never write the same field at the same time, so
 * neither side needs a read-modify-write to post, take, complete or collect a call.
 *
 * Three pairs of a store and a load must not be reordered, or a wake-up is lost or
 * a call runs twice.  One side of each pair is frequent, the other is rare:
 *
 *	frequent			rare
 *	poster:	status = SUBMITTED	runner:	runner = ASLEEP
 *		[light fence]			[heavy fence]
 *		runner == ASLEEP?		any status == SUBMITTED, gate set?
 *			-> wake it			-> no sleep
 *	runner:	status = DONE		waiter:	argc |= FLEXSC_ARGC_WAITED
 *		[light fence]			[heavy fence]
 *		argc & WAITED?			status == DONE?
 *			-> wake status			-> no sleep
 *	runner:	begun = 1		user:	gate = CLOSED
 *		[light fence]			[heavy fence]
 *		gate set, or status		begun == 0, then status == SUBMITTED?
 *		no longer SUBMITTED?			-> status = FREE: withdrawn
 *			-> begun = 0, look again
 *
 * The heavy fence is membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), and the light one
 * is then a compiler barrier.  With FLEXSC_FENCES, for systems without membarrier,
 * both are full fences.
 *
 * In addition, a store to status is a release, and a load of it that finds SUBMITTED (in
 * the runner) or DONE (in the user) is an acquire.  begun = 0 after DONE is a release, too,
 * and a load of begun is an acquire: so a thread that withdraws a call finds DONE.
 */
#ifndef _UAPI_LINUX_FLEXSC_H
#define _UAPI_LINUX_FLEXSC_H

#include <linux/subcall.h>
#include <linux/types.h>

#define FLEXSC_VERSION 3

#define FLEXSC_MAX_ENTRIES 4096

/* status: a futex word.  The runner stores DONE and REFUSED; the user stores the other values. */
#define FLEXSC_ENTRY_FREE 0U
#define FLEXSC_ENTRY_SUBMITTED 1U
#define FLEXSC_ENTRY_DONE 2U
#define FLEXSC_ENTRY_REFUSED 3U /* not made: the poster has to make the call; see below */

/*
 * A bit of argc: a thread sleeps on status or on the set's eventfd, or is about to.  That
 * thread clears the bit before it collects the call.
 */
#define FLEXSC_ARGC_WAITED 0x80U

/*
 * begun: not 0 from the moment when the runner takes the call until just after DONE.  If a
 * runner leaves the kernel in the middle of a call, begun stays as it is.
 */
#define FLEXSC_BEGUN 1U
#define FLEXSC_BEGUN_RESTART 2U /* restart_syscall() in the runner's thread resumes the call */

/*
 * A posted call: 64 bytes, a cache line.  It runs as a slot of a batch does: a
 * blocked or unknown number, or argc over 6, gives -ENOSYS.  batch() is
 * allowed and runs a batch: arg[] holds the two arguments of batch().  Memory that arg[] points
 * to has to stay valid until DONE.
 *
 * A posted call never does anything that the same call by its poster could not do.  The poster
 * stores its thread ID in result.  A runner in the kernel compares the poster with itself before
 * it makes a call, or makes a begun call again: credentials (and with them capabilities, keyrings
 * and the domains of security modules), no_new_privs, seccomp's mode and filters, namespaces,
 * cgroups, I/O priority, root and working directory, descriptors, and personality.  The runner
 * stores REFUSED and leaves result as it is if one of these differs, if something watches the
 * calls of the poster but not of the runner, if result is not the ID of a thread of the process,
 * or if the process has allocated a protection key.
 */
struct flexsc_entry {
	__u32 status;
	__s16 nr;
	__u8 argc;    /* 0 .. 6, and FLEXSC_ARGC_WAITED */
	__u8 begun;   /* written by the runner */
	__s64 result; /* SUBMITTED, REFUSED: the poster's ID; DONE: -errno on failure */
	__s64 arg[BATCH_MAX_ARGS];
} __attribute__((__aligned__(64)));

/* flags of a set */
#define FLEXSC_FENCES 1U /* no membarrier: both sides of every pair make full fences */
#define FLEXSC_TIMES 2U  /* see below */

/*
 * FLEXSC_TIMES: before DONE, the runner stores two times (CLOCK_MONOTONIC, ns): arg[4]
 * is when it took the call, and arg[5] when the call had ended.
 */

/*
 * runner: a futex word.  The runner stores RUNNING when it begins to serve and when
 * it wakes up, ASLEEP before it sleeps, and ABSENT when it leaves for good (gate STOP).
 * A thread that wakes it first changes ASLEEP to RUNNING by compare-exchange, and
 * makes the futex call only if that succeeds.
 *
 * With FLEXSC_FEATURE_BLOCKED, the runner stores BLOCKED when a call first sleeps, and
 * RUNNING when that call has ended.  If alert is not 0 when it stores BLOCKED, it signals the
 * eventfd: another thread has to make the calls behind.  Full fences order the store of BLOCKED
 * before the runner's load of alert, and the store of alert before the user's load of runner.
 */
#define FLEXSC_RUNNER_ABSENT 0U
#define FLEXSC_RUNNER_RUNNING 1U
#define FLEXSC_RUNNER_ASLEEP 2U
#define FLEXSC_RUNNER_BLOCKED 3U

/* gate: only the user writes it.  After STOP the user wakes the runner if the runner sleeps. */
#define FLEXSC_GATE_OPEN 0U
#define FLEXSC_GATE_CLOSED 1U /* the runner takes nothing, for a moment */
#define FLEXSC_GATE_STOP 2U   /* the runner leaves */

/*
 * A set: two cache lines, then the entries.  It is aligned to 64 bytes, in private
 * memory of the process; futexes on it are private ones.
 */
struct flexsc_set {
	/* constant from the first flexsc_serve() on */
	__u32 version; /* FLEXSC_VERSION */
	__u32 flags;
	__u32 count;   /* of entries: a power of two up to FLEXSC_MAX_ENTRIES */
	__s32 eventfd; /* signalled after DONE or REFUSED if the entry is WAITED; or -1 */
	__u64 spin_ns; /* the longest time without work before the runner sleeps */

	/* read at every call, written seldom: a line of its own */
	__u32 runner __attribute__((__aligned__(64)));
	__u32 gate;
	__u32 alert; /* written by the user: signal the eventfd when the runner blocks */

	struct flexsc_entry entry[] __attribute__((__aligned__(64)));
};

/*
 * flexsc_register(set, size) checks whether flexsc_serve() would serve the set.  It returns 0;
 * -EINVAL for a version, flag, count, size or alignment that breaks the rules above, or for a
 * descriptor that is not an eventfd; -EBADF for a descriptor that is not open; or -EFAULT.
 * size is in bytes and includes the entries.  flexsc_register(NULL, 0) returns
 * FLEXSC_VERSION | features << BATCH_FEATURE_SHIFT.
 *
 * flexsc_serve(set) makes the caller the set's runner.  It leaves the kernel for signals, and
 * continues afterwards, first with a call that is begun.  Returns
 *	0		the gate is FLEXSC_GATE_STOP
 *	-EOPNOTSUPP	an entry is begun, and only user space can make its call, for
 *			example because a seccomp filter traps it: make the call, store
 *			its result and DONE, then serve again.  If no entry is begun, the
 *			kernel cannot serve this thread, but user space can.
 *	-EINTR		a handler ended the call of the entry that is begun: store this
 *			result and DONE, then serve again
 *	-EPERM		without FLEXSC_FENCES, the process has not registered for
 *			MEMBARRIER_CMD_PRIVATE_EXPEDITED
 *	-EINVAL, -EBADF, -EFAULT	as flexsc_register()
 */
#define FLEXSC_FEATURE_MEMBARRIER 1L /* the runner needs no FLEXSC_FENCES */
#define FLEXSC_FEATURE_BLOCKED 2L	   /* the runner stores BLOCKED */

#endif /* _UAPI_LINUX_FLEXSC_H */

/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * flexsc: system calls that are posted to shared entries and run by a dedicated
 * thread, the runner, in the kernel or in user space.  doc/flexsc.md describes the
 * design; this header describes what the two sides share.  A set of entries belongs
 * to one process and one runner.  It holds all state: the runner keeps none.
 *
 * The two sides never write the same field at the same time, except `runner`, so
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
 * The heavy fence is membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), and the light one
 * is then a compiler barrier.  With FERRY_FLEXSC_FENCES, where membarrier is missing,
 * both are full fences.
 *
 * In addition, a store to status is a release, and a load of it that finds SUBMITTED (in
 * the runner) or DONE (in the user) is an acquire.  begun = 0 after DONE is a release too,
 * and a load of begun is an acquire: a thread that withdraws then finds DONE.
 */
#ifndef _UAPI_LINUX_FERRY_FLEXSC_H
#define _UAPI_LINUX_FERRY_FLEXSC_H

#include <linux/ferry.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#define FERRY_FLEXSC_VERSION 2

#define FERRY_FLEXSC_MAX_ENTRIES 4096

/* status: a futex word.  The runner stores DONE and REFUSED; the user stores the other values. */
#define FERRY_ENTRY_FREE 0U
#define FERRY_ENTRY_SUBMITTED 1U
#define FERRY_ENTRY_DONE 2U
#define FERRY_ENTRY_REFUSED 3U /* not made: the thread that posted it makes it; see below */

/*
 * In argc: a thread sleeps on status or on the set's eventfd, or is about to.  That thread
 * clears it before collecting.
 */
#define FERRY_ARGC_WAITED 0x80U

/*
 * begun: not 0 from when the runner takes the call until just after DONE.  A runner in the
 * kernel that leaves in the middle of a call leaves it begun.
 */
#define FERRY_BEGUN 1U
#define FERRY_BEGUN_RESTART 2U /* restart_syscall() resumes it, in the runner's thread */

/*
 * A posted call: 64 bytes, a cache line.  It runs as a slot of a batch would: a
 * blocked or unknown number, or argc over 6, gives -ENOSYS.  FERRY_NR_BATCH is
 * allowed and runs a batch: arg[] are batch()'s five arguments, of which the runner may
 * change flags, to store the position.  Memory that arg[] points to stays valid until DONE.
 *
 * A posted call never does what the same call by its poster could not.  The poster stores its
 * thread ID in result.  A runner in the kernel compares the two threads before it makes the
 * call: credentials (and with them capabilities, keyrings and the domains of security modules),
 * no_new_privs, seccomp's mode and filters, namespaces, root and working directory, descriptors,
 * and personality.  If one of these differs, if something watches the calls of the poster alone,
 * if result is not the ID of a thread of the process, or if the process has allocated a
 * protection key, the runner stores REFUSED and leaves result as it is.
 */
struct ferry_entry {
	__u32 status;
	__s16 nr;
	__u8 argc;    /* 0 .. 6, and FERRY_ARGC_WAITED */
	__u8 begun;   /* the runner's */
	__s64 result; /* SUBMITTED, REFUSED: the poster's ID; DONE: -errno on failure */
	__s64 arg[FERRY_MAX_ARGS];
} __attribute__((__aligned__(64)));

/* flags of a set */
#define FERRY_FLEXSC_FENCES 1U /* no membarrier: both sides of every pair make full fences */
#define FERRY_FLEXSC_TIMES 2U  /* see below */

/*
 * FERRY_FLEXSC_TIMES: before DONE, the runner stores when it took the call in arg[4] and
 * when it had run it in arg[5] (CLOCK_MONOTONIC, ns).
 */

/*
 * runner: a futex word.  The runner stores RUNNING when it begins to serve and when
 * it wakes up, ASLEEP before it sleeps, and ABSENT when it leaves for good (gate STOP).
 * A thread that wakes it first changes ASLEEP to RUNNING by compare-exchange, and
 * makes the futex call only if that succeeds.
 *
 * With FERRY_FLEXSC_FEATURE_BLOCKED, the runner stores BLOCKED when a call first sleeps, and
 * RUNNING again when that call has ended.  If alert is not 0 then, it signals the eventfd:
 * another thread has to make the calls that are behind.  Full fences order BLOCKED before the
 * load of alert, and alert before a look at runner.
 */
#define FERRY_RUNNER_ABSENT 0U
#define FERRY_RUNNER_RUNNING 1U
#define FERRY_RUNNER_ASLEEP 2U
#define FERRY_RUNNER_BLOCKED 3U

/* gate: only the user's side writes it.  After STOP it wakes the runner if that sleeps. */
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
	__u32 count;   /* of entries: a power of two up to FERRY_FLEXSC_MAX_ENTRIES */
	__s32 eventfd; /* signalled after DONE or REFUSED if the entry is WAITED; or -1 */
	__u64 spin_ns; /* the longest time without work before the runner sleeps */

	/* read at every call, written seldom: a line of its own */
	__u32 runner __attribute__((__aligned__(64)));
	__u32 gate;
	__u32 alert; /* the user's: a thread sleeps that has to learn when the runner blocks */

	struct ferry_entry entry[] __attribute__((__aligned__(64)));
};

/*
 * flexsc_register(set, size) checks whether flexsc_serve() would serve the set: 0,
 * -EINVAL for a version, flag, count, size or alignment that is not as above, or for a
 * descriptor that is not of an eventfd, -EBADF for one that is not open, or -EFAULT.
 * size is in bytes and includes the entries.  flexsc_register(NULL, 0) returns
 * FERRY_FLEXSC_VERSION | features << FERRY_FEATURE_SHIFT.
 *
 * flexsc_serve(set) makes the caller the set's runner.  It leaves for signals and continues
 * afterwards, first with a call that is begun.  Returns
 *	0		the gate is FERRY_GATE_STOP
 *	-EOPNOTSUPP	an entry is begun whose call only user space can make, such as
 *			one that a seccomp filter traps: make and complete it, then
 *			serve again.  If none is begun, the kernel cannot serve this
 *			thread, but user space can.
 *	-EPERM		without FERRY_FLEXSC_FENCES, the process has not registered for
 *			MEMBARRIER_CMD_PRIVATE_EXPEDITED
 *	-EINVAL, -EBADF, -EFAULT	as flexsc_register()
 */
#define FERRY_FLEXSC_FEATURE_MEMBARRIER 1L /* the runner needs no FERRY_FLEXSC_FENCES */
#define FERRY_FLEXSC_FEATURE_BLOCKED 2L	   /* the runner stores BLOCKED */

/* /dev/ferry: flexsc_serve(), and with NULL what flexsc_register(NULL, 0) returns. */
#define FERRY_IOC_FLEXSC_SERVE _IO(0xfe, 2)

#endif /* _UAPI_LINUX_FERRY_FLEXSC_H */

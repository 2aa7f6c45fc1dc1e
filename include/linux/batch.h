/* SPDX-License-Identifier: MIT */
/*
 * The source API of the original, sys_batch by Charles Blake (github.com/c-blake/batch).  It
 * needs no other header and no library.
 * batch() makes the system call if the kernel has it, and otherwise runs the loop.
 * batch(2) describes the program in calls[], and lists the differences from the
 * original.
 *
 * Environment: BATCH_EMUL forces the loop; with BATCH_VERBOSE the first call prints
 * on standard error whether the loop runs.  Both are read at the first call.
 *
 * The header needs <linux/types.h> of the kernel's headers.  musl-gcc finds them with
 * -idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch).
 */
#ifndef LINUX_BATCH_H
#define LINUX_BATCH_H

#include <stdlib.h>
#include <unistd.h> /* programs rely on it */

#include <ferry/batchcall.h>
#include <ferry/loop.h>
#include <linux/ferry.h>

#ifndef __NR_batch
#define __NR_batch FERRY_NR_BATCH
#endif
#define __NR_wdcpy BATCH_WDCPY

/** One slot, with the layout of struct batch_slot. */
typedef struct syscall {
	short nr;	/* system call number, __NR_wdcpy, or negative: never implemented */
	short jumpFail; /* slots to skip when the result is in -4095..-1 */
	short jump0;	/* slots to skip when the result is 0 */
	short jumpPos;	/* slots to skip otherwise; any negative jump ends the batch */
	char argc;	/* arguments in arg[], 0..6 */
	long arg[6];
} syscall_t;

/*
 * scallN(name, jumpFail, jump0, jumpPos, N arguments) makes the slot that calls
 * NAME; it can be a value or an element of an initializer.
 */
#ifdef __cplusplus
#define FERRY_SCALL(name, fail, zero, pos, argc, ...) \
	(syscall_t{                                   \
		__NR_##name, (short)(fail), (short)(zero), (short)(pos), argc, { __VA_ARGS__ } })
#else
#define FERRY_SCALL(name, fail, zero, pos, argc, ...) \
	((syscall_t){ __NR_##name, (fail), (zero), (pos), argc, { __VA_ARGS__ } })
#endif

#define scall0(name, fail, zero, pos) FERRY_SCALL(name, fail, zero, pos, 0, 0)
#define scall1(name, fail, zero, pos, a) FERRY_SCALL(name, fail, zero, pos, 1, (long)(a))
#define scall2(name, fail, zero, pos, a, b) \
	FERRY_SCALL(name, fail, zero, pos, 2, (long)(a), (long)(b))
#define scall3(name, fail, zero, pos, a, b, c) \
	FERRY_SCALL(name, fail, zero, pos, 3, (long)(a), (long)(b), (long)(c))
#define scall4(name, fail, zero, pos, a, b, c, d) \
	FERRY_SCALL(name, fail, zero, pos, 4, (long)(a), (long)(b), (long)(c), (long)(d))
#define scall5(name, fail, zero, pos, a, b, c, d, e) \
	FERRY_SCALL(name, fail, zero, pos, 5, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))
#define scall6(name, fail, zero, pos, a, b, c, d, e, f)                                   \
	FERRY_SCALL(name, fail, zero, pos, 6, (long)(a), (long)(b), (long)(c), (long)(d), \
		    (long)(e), (long)(f))

/* Whether the kernel answers the query with this ABI version. */
static inline int ferry_kernel_has_batch(void)
{
	long answer = ferry_rawcall(__NR_batch, 0, 0, 0, 0, 0, 0);

	return answer > 0 && (answer & BATCH_VERSION_MASK) == BATCH_VERSION;
}

/* 1 to run the loop, 0 to make the system call; BATCH_VERBOSE prints the choice. */
static inline int ferry_choose_emulation(void)
{
	static const char emul[] = "sys_batch Emul\n";
	static const char real[] = "sys_batch Real\n";
	int emulate = getenv("BATCH_EMUL") || !ferry_kernel_has_batch();

	if (getenv("BATCH_VERBOSE"))
		ferry_rawcall(__NR_write, 2, (long)(emulate ? emul : real), sizeof(emul) - 1, 0, 0,
			      0);
	return emulate;
}

/* Returns ANSWER as a function of the C library does: -1 and errno for a failure. */
static inline long ferry_with_errno(long answer)
{
	if (FERRY_LIKELY(answer >= 0))
		return answer;
	errno = (int)-answer;
	return -1;
}

/**
 * Runs calls[0 .. ncall - 1] and stores the raw result of each slot that ran in
 * rets[].  Ignores FLAGS and SIZE, except in the query: FLAGS is
 * FERRY_BATCH_QUERY and every other argument 0.
 *
 * Returns the index of the last slot that ran, 0 for an empty batch, or -1 with
 * errno when none could run: EINVAL for ncall, EFAULT for calls.  Otherwise errno
 * does not change.  Any number of threads may call it at once.
 */
static inline long batch(long rets[], syscall_t calls[], unsigned long ncall, long flags, long size)
{
	static int chosen; /* 0: not yet; else 1 + ferry_choose_emulation() */
	const struct batch_slot *slots = (const struct batch_slot *)calls;
	int choice = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
	long answer;

	if (flags != FERRY_BATCH_QUERY || rets || calls || ncall || size)
		flags = 0;
	if (FERRY_UNLIKELY(!choice)) {
		choice = 1 + ferry_choose_emulation();
		__atomic_store_n(&chosen, choice, __ATOMIC_RELAXED);
	}
	if (choice == 1 && !flags)
		return ferry_with_errno(ferry_batchcall(rets, slots, ncall));
	answer = ferry_batch_prepare(rets, calls, ncall, flags, 0);
	if (!answer && ncall)
		answer = ferry_loop(rets, slots, ncall);
	return ferry_with_errno(answer);
}

#endif /* LINUX_BATCH_H */

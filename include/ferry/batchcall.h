/* SPDX-License-Identifier: MIT */
/*
 * The system call batch() of a kernel with the ferry series, and user space's part of its
 * protocol.  batch(2) describes both.
 */
#ifndef FERRY_BATCHCALL_H
#define FERRY_BATCHCALL_H

#include <ferry/loop.h>

/*
 * Makes system call NR: batch() or the ioctl.  It may end as the call of a slot (BATCH_ANSWER);
 * then the registers of its arguments have changed.
 */
#if defined(__x86_64__) && defined(__LP64__)

static inline long ferry_batchcall_raw(long nr, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result), "+D"(a), "+S"(b), "+d"(c)
			 : "0"(nr)
			 : "rcx", "r8", "r9", "r10", "r11", "cc", "memory");
	return result;
}

#elif defined(__aarch64__) && defined(__LP64__)

static inline long ferry_batchcall_raw(long nr, long a, long b, long c)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0"
			 : "+r"(x8), "+r"(x0), "+r"(x1), "+r"(x2)
			 :
			 : "x3", "x4", "x5", "cc", "memory");
	return x0;
}

#elif defined(__riscv) && defined(__LP64__)

static inline long ferry_batchcall_raw(long nr, long a, long b, long c)
{
	register long a7 __asm__("a7") = nr;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;

	__asm__ volatile("ecall"
			 : "+r"(a7), "+r"(a0), "+r"(a1), "+r"(a2)
			 :
			 : "a3", "a4", "a5", "memory" FERRY_RISCV_VECTORS);
	return a0;
}

#else

static inline long ferry_batchcall_raw(long nr, long a, long b, long c)
{
	return ferry_rawcall(nr, a, b, c, 0, 0, 0);
}

#endif

/* Fills in the arguments of a batch that has not begun.  The kernel reads no other field. */
static inline void ferry_batch_begin(struct batch_args *args, long rets[],
				     const struct batch_slot calls[], unsigned long ncall)
{
	args->rets = (unsigned long)rets;
	args->calls = (unsigned long)calls;
	args->ncall = ncall;
	args->flags = 0;
	args->position = 0;
	args->last = 0;
	args->state = BATCH_BEGIN;
}

/** Whether ANSWER ends the batch, so that user space has nothing left to do. */
static inline int ferry_batch_is_over(const struct batch_args *args, long answer)
{
	if (FERRY_LIKELY(answer >= 0))
		return args->state != BATCH_ANSWER;
	/* All other errors come from a seccomp filter: user space then runs the batch. */
	return !args->position && args->state == BATCH_BEGIN &&
	       (answer == -EINVAL || answer == -EFAULT);
}

/**
 * Runs the batch calls[0 .. ncall - 1] by the system call, and by the loop the part that the
 * kernel leaves to user space.  Returns as ferry_loop(), or an error of ferry_batch_prepare().
 */
static inline long ferry_batchcall(long rets[], const struct batch_slot calls[],
				   unsigned long ncall)
{
	struct batch_args args;
	long answer;

	ferry_batch_begin(&args, rets, calls, ncall);
	do {
		answer = ferry_batchcall_raw(FERRY_NR_BATCH, (long)&args, sizeof(args), 0);
		if (FERRY_LIKELY(ferry_batch_is_over(&args, answer)))
			return answer;
		if (!args.position && args.state == BATCH_BEGIN) {
			long refused = ferry_batch_prepare(rets, calls, ncall, 0, 0);

			if (refused || !ncall)
				return refused;
		}
	} while (ferry_batch_left(&args, &answer));
	return answer;
}

#endif /* FERRY_BATCHCALL_H */

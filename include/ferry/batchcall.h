/* SPDX-License-Identifier: MIT */
/*
 * The batch system call of a kernel with the ferry series.  Where a seccomp filter or
 * syscall user dispatch answers a call with SIGSYS, only a real system call gets that right:
 * the kernel leaves the rest of the batch to user space, and the loop continues it.
 */
#ifndef FERRY_BATCHCALL_H
#define FERRY_BATCHCALL_H

#include <ferry/loop.h>

#if defined(__x86_64__) && defined(__LP64__)

/* The fourth argument's register comes back in *FLAGS. */
static inline long ferry_batchcall_raw(long rets[], const struct ferry_slot calls[],
				       unsigned long ncall, long *flags, long size)
{
	register long r10 __asm__("r10") = *flags;
	register long r8 __asm__("r8") = size;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result), "+r"(r10)
			 : "0"((long)FERRY_NR_BATCH), "D"(rets), "S"(calls), "d"(ncall), "r"(r8)
			 : "rcx", "r11", "cc", "memory");
	*flags = r10;
	return result;
}

#elif defined(__aarch64__) && defined(__LP64__)

/* The fourth argument's register comes back in *FLAGS. */
static inline long ferry_batchcall_raw(long rets[], const struct ferry_slot calls[],
				       unsigned long ncall, long *flags, long size)
{
	register long x8 __asm__("x8") = FERRY_NR_BATCH;
	register long x0 __asm__("x0") = (long)rets;
	register long x1 __asm__("x1") = (long)calls;
	register long x2 __asm__("x2") = (long)ncall;
	register long x3 __asm__("x3") = *flags;
	register long x4 __asm__("x4") = size;

	__asm__ volatile("svc 0"
			 : "+r"(x0), "+r"(x3)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x4)
			 : "cc", "memory");
	*flags = x3;
	return x0;
}

#else

/* No kernel has the call on this architecture, so *FLAGS does not change. */
static inline long ferry_batchcall_raw(long rets[], const struct ferry_slot calls[],
				       unsigned long ncall, long *flags, long size)
{
	return ferry_rawcall(FERRY_NR_BATCH, (long)rets, (long)calls, (long)ncall, *flags, size, 0);
}

#endif

/*
 * Whether ANSWER is one that the kernel's batch() gives to a batch that it ran or will not
 * run.  All others are a seccomp filter's, to the first entry or to the one after a signal.
 * They leave the rest to user space.
 */
static inline int ferry_batch_is_over(long answer)
{
	return answer >= 0 || answer == -EINVAL || answer == -EFAULT;
}

/**
 * Runs a batch by the system call, and the part that the kernel leaves by the loop.  Returns
 * as ferry_loop(), and the kernel's answer to a query.
 */
static inline long ferry_batchcall(long rets[], const struct ferry_slot calls[],
				   unsigned long ncall, long flags, long size)
{
	long position = flags;
	long answer = ferry_batchcall_raw(rets, calls, ncall, &position, size);

	if (FERRY_UNLIKELY(ferry_is_partial(answer)))
		return ferry_loop_resume(answer, rets, calls, ncall);
	if (FERRY_LIKELY(ferry_batch_is_over(answer)))
		return answer;
	if (position == flags) { /* it did not begin */
		answer = ferry_batch_prepare(rets, calls, ncall, flags, size);
		if (answer || !ncall)
			return answer;
		return ferry_loop(rets, calls, ncall);
	}
	return ferry_loop_resume(position, rets, calls, ncall);
}

#endif /* FERRY_BATCHCALL_H */

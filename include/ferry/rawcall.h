/* SPDX-License-Identifier: MIT */
/*
 * A system call as the kernel sees it: six registers in, the raw result out,
 * -errno on failure; errno itself is neither read nor written.  Register use is
 * the table of syscall(2).
 */
#ifndef FERRY_RAWCALL_H
#define FERRY_RAWCALL_H

#include <sys/syscall.h>

#if defined(__x86_64__) && defined(__LP64__)

static inline long ferry_rawcall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "cc", "memory");
	return result;
}

#elif defined(__aarch64__) && defined(__LP64__)

static inline long ferry_rawcall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "cc", "memory");
	return x0;
}

#elif defined(__LP64__)

#include <errno.h>
#include <unistd.h>

static inline long ferry_rawcall(long nr, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long result = syscall(nr, a, b, c, d, e, f);

	/* libc folds every failure into -1: only then does errno carry the result. */
	if (result == -1)
		result = -(long)errno;
	errno = saved;
	return result;
}

#else
#error "ferry's slots hold 64-bit words: build for an LP64 ABI"
#endif

#endif /* FERRY_RAWCALL_H */

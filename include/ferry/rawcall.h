/* SPDX-License-Identifier: MIT */
/*
 * A system call as the kernel sees it: six registers in, and the raw result out, which is
 * -errno on failure.  errno itself is neither read nor written.  syscall(2) has the table
 * of registers.
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

#elif defined(__riscv) && defined(__LP64__)

/* The kernel forgets the vector registers of a thread that makes a call. */
#ifdef __riscv_vector
/* clang-format off */
#define FERRY_RISCV_VECTORS \
	, "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", \
	"v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", \
	"v27", "v28", "v29", "v30", "v31" FERRY_RISCV_VECTOR_STATE
/* clang-format on */
#ifdef __clang__ /* any asm statement may change them; older versions do not know the names */
#define FERRY_RISCV_VECTOR_STATE
#else
#define FERRY_RISCV_VECTOR_STATE , "vl", "vtype"
#endif
#else
#define FERRY_RISCV_VECTORS
#endif

static inline long ferry_rawcall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = nr;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall"
			 : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			 : "memory" FERRY_RISCV_VECTORS);
	return a0;
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

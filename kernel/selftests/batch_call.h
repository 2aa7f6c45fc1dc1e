/* SPDX-License-Identifier: GPL-2.0 */
/* The call batch() as the kernel has it, without what a C library would add. */
#ifndef BATCH_CALL_H
#define BATCH_CALL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <linux/subcall.h>

#define NO_BATCH "no batch(): is CONFIG_SUBCALL_BATCH set?"

/*
 * A system call.  Afterwards ARG holds the argument registers as the kernel left them, but for one
 * that the result is in.
 */
#if defined(__x86_64__)
static inline long raw_call(long nr, long arg[BATCH_MAX_ARGS])
{
	register long r10 asm("r10") = arg[3];
	register long r8 asm("r8") = arg[4];
	register long r9 asm("r9") = arg[5];
	long result;

	asm volatile("syscall"
		     : "=a" (result), "+D" (arg[0]), "+S" (arg[1]), "+d" (arg[2]),
		       "+r" (r10), "+r" (r8), "+r" (r9)
		     : "0" (nr)
		     : "rcx", "r11", "memory");
	arg[3] = r10;
	arg[4] = r8;
	arg[5] = r9;
	return result;
}
#else
#error "batch() is not on this architecture"
#endif

static inline long raw_batch(struct batch_args *args, size_t size)
{
	long arg[BATCH_MAX_ARGS] = { (long)args, size };

	return raw_call(__NR_batch, arg);
}

static inline struct batch_args batch_args(long rets[], const struct batch_slot calls[],
					   unsigned long ncall)
{
	return (struct batch_args){
		.rets = (unsigned long)rets,
		.calls = (unsigned long)calls,
		.ncall = ncall,
	};
}

static inline bool have_batch(void)
{
	return raw_batch(NULL, 0) != -ENOSYS;
}

#endif /* BATCH_CALL_H */

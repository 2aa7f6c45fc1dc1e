/* SPDX-License-Identifier: GPL-2.0 */
/* The call batch() as the kernel has it, without what a C library would add. */
#ifndef BATCH_CALL_H
#define BATCH_CALL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include <linux/ferry.h>

#define NO_BATCH "no batch(): is CONFIG_FERRY_BATCH set?"

/* A system call.  Afterwards ARG holds the argument registers as the kernel left them. */
static inline long raw_call(long nr, long arg[FERRY_MAX_ARGS])
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

static inline long raw_batch(long rets[], const struct ferry_slot calls[], unsigned long ncall,
			     long flags, long size)
{
	long arg[FERRY_MAX_ARGS] = { (long)rets, (long)calls, ncall, flags, size };

	return raw_call(FERRY_NR_BATCH, arg);
}

static inline bool have_batch(void)
{
	return raw_batch(NULL, NULL, 0, FERRY_BATCH_QUERY, 0) != -ENOSYS;
}

#endif /* BATCH_CALL_H */

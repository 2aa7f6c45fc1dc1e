/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FERRY_BENCH_INTERNAL_H
#define FERRY_BENCH_INTERNAL_H

#include <linux/syscalls.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "ferry_bench.h"

/* The kernel's table of system calls. */
extern const sys_call_ptr_t *calls_of_kernel;

#ifdef CONFIG_UML
#define NR_CALLS __NR_syscalls
#else
#define NR_CALLS NR_syscalls
#endif

/* A call's arguments in the form that the table's handlers take. */
struct prepared {
#ifdef CONFIG_UML
	unsigned long arg[BATCH_MAX_ARGS];
#else
	struct pt_regs regs;
#endif
};

static __always_inline void prepare(struct prepared *to, const unsigned long *arg)
{
#ifdef CONFIG_UML
	memcpy(to->arg, arg, sizeof(to->arg));
#else
	to->regs.di = arg[0];
	to->regs.si = arg[1];
	to->regs.dx = arg[2];
	to->regs.r10 = arg[3];
	to->regs.r8 = arg[4];
	to->regs.r9 = arg[5];
#endif
}

static __always_inline long call(unsigned long nr, const struct prepared *prepared)
{
#ifdef CONFIG_UML
	const unsigned long *arg = prepared->arg;

	return calls_of_kernel[nr](arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
#else
	return calls_of_kernel[nr](&prepared->regs);
#endif
}

/* Whether the module knows where the counters of kstats() are. */
bool has_counters(void);

/* What reading them takes, in ticks. */
unsigned long cost_of_counters(void);

long measure_direct(struct ferry_bench_direct *direct);
long naive_batch(const struct batch_args *args);

#endif /* FERRY_BENCH_INTERNAL_H */

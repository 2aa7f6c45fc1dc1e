// SPDX-License-Identifier: GPL-2.0
/* The futex functions are not exported, so this calls futex() through the table. */
#include <linux/mutex.h> /* used by futex.h */
#include <linux/futex.h>
#include <asm/subcall.h>
#include <asm/unistd.h>

/* Supports only what flexsc uses. */
long ferry_do_futex(u32 __user *word, int operation, u32 value, ktime_t *timeout,
		    u32 __user *word2, u32 value2, u32 value3)
{
	const unsigned long args[BATCH_MAX_ARGS] = { (unsigned long)word, operation, value };
	struct pt_regs regs __uninitialized;

	subcall_set_args(&regs, args);
	return subcall_dispatch(&regs, __NR_futex);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replacements for what stock kernels do not export to modules.  Included before every
 * file, so that the files of the series compile here unchanged.
 */
#ifndef _FERRY_COMPAT_H
#define _FERRY_COMPAT_H

#if !(defined(CONFIG_X86_64) || defined(CONFIG_ARM64)) || defined(CONFIG_UML)
#error "ferry.ko is for x86-64 and arm64 kernels only"
#endif

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/eventfd.h>
#include <linux/nospec.h>
#include <linux/resume_user_mode.h>
#include <linux/sched/signal.h>
#include <linux/thread_info.h>
#include <linux/version.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <uapi/linux/ferry.h>

#ifndef __NR_batch
#define __NR_batch FERRY_NR_BATCH
#endif

#ifdef CONFIG_ARM64
typedef syscall_fn_t sys_call_ptr_t;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
static inline void syscall_set_arguments(struct task_struct *task, struct pt_regs *regs,
					 const unsigned long *args)
{
	regs->orig_x0 = args[0];
	memcpy(&regs->regs[1], args + 1, 5 * sizeof(*args));
}
#endif
#endif

/* The kernel's system call table, set by ferry_find_table(). */
extern const sys_call_ptr_t *ferry_table;

/* Finds and verifies the table.  Logs the reason if it returns -errno. */
int ferry_find_table(void);

#define do_futex ferry_do_futex
long ferry_do_futex(u32 __user *word, int operation, u32 value, ktime_t *timeout,
		    u32 __user *word2, u32 value2, u32 value3);

/* Until Linux 6.8 it was told by how much to increase the counter. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define eventfd_signal(context) eventfd_signal(context, 1)
#endif

/* What this would do is not exported, so it stays pending for the exit to user space. */
#define resume_user_mode_work(regs) do { } while (0)

#endif /* _FERRY_COMPAT_H */

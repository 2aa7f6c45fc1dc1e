/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replacements for what stock kernels do not export to modules.  Included before every
 * file, so that the files of the series compile here unchanged.
 */
#ifndef _FERRY_COMPAT_H
#define _FERRY_COMPAT_H

#if !defined(CONFIG_X86_64) || defined(CONFIG_UML)
#error "ferry.ko is for x86-64 kernels only"
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

/* The kernel's system call table, set by ferry_find_table(). */
extern const sys_call_ptr_t *ferry_table;

/* Finds and verifies the table.  Logs the reason if it returns -errno. */
int ferry_find_table(void);

static __always_inline long ferry_call_table(const struct pt_regs *regs, unsigned int nr)
{
	if (unlikely(nr >= NR_syscalls))
		return -ENOSYS;
	return ferry_table[array_index_nospec(nr, NR_syscalls)](regs);
}
#define x64_sys_call ferry_call_table

#define do_futex ferry_do_futex
long ferry_do_futex(u32 __user *word, int operation, u32 value, ktime_t *timeout,
		    u32 __user *word2, u32 value2, u32 value3);

#define force_sig_fault ferry_force_sig_fault
void ferry_force_sig_fault(int sig, int code, void __user *address);

/* Until Linux 6.8 it was told by how much to increase the counter. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define eventfd_signal(context) eventfd_signal(context, 1)
#endif

/*
 * Marks in the upper half of the number of an ioctl: it left a call in the middle, and a
 * handler ended that call.  If the caller is to continue, the error that the ioctl would
 * have been restarted for.
 */
#define FERRY_MARK_LEFT BIT(63)
#define FERRY_MARK_EINTR BIT(62)
#define FERRY_MARK_ERROR_SHIFT 48
#define FERRY_MARK_ERROR(nr) ((long)((nr) >> FERRY_MARK_ERROR_SHIFT & 0xfff))

/* From here on signal delivery sets FERRY_MARK_EINTR.  Logs the reason if it returns -errno. */
int ferry_watch_signals(void);
void ferry_unwatch_signals(void);

/* What this would do is not exported, so it stays pending for the exit to user space. */
#define resume_user_mode_work(regs) do { } while (0)

#endif /* _FERRY_COMPAT_H */

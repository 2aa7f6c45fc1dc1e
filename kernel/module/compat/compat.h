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

#include <linux/eventfd.h>
#include <linux/resume_user_mode.h>
#include <linux/sched/signal.h>
#include <linux/thread_info.h>
#include <linux/version.h>
#include <asm/syscall.h>

/* The kernel's system call table, set by ferry_find_table(). */
extern const sys_call_ptr_t *ferry_table;
#define sys_call_table ferry_table

/* Finds and verifies the table.  Logs the reason if it returns -errno. */
int ferry_find_table(void);

#define do_futex ferry_do_futex
long ferry_do_futex(u32 __user *word, int operation, u32 value, ktime_t *timeout,
		    u32 __user *word2, u32 value2, u32 value3);

#define next_signal ferry_next_signal
int ferry_next_signal(const struct sigpending *pending, const sigset_t *mask);

#define force_sig_fault ferry_force_sig_fault
void ferry_force_sig_fault(int sig, int code, void __user *address);

/* Until Linux 6.8 it was told by how much to increase the counter. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define eventfd_signal(context) eventfd_signal(context, 1)
#endif

/*
 * The functions for this are not exported.  The exit to user space does all of it, even if
 * there is no signal to deliver, and then restarts the call.
 */
static inline void resume_on_the_way_out(struct pt_regs *regs)
{
	set_thread_flag(TIF_NOTIFY_RESUME);
	set_thread_flag(TIF_NOTIFY_SIGNAL);
}
#define resume_user_mode_work resume_on_the_way_out

#endif /* _FERRY_COMPAT_H */

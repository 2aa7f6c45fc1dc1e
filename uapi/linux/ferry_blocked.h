/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * The calls that no batch makes, with the reason for each: they duplicate, replace or
 * end the caller, or return by another protocol than a result.  Every engine and the
 * kernel use this table.
 *
 * Include after the header that defines __NR_*: <sys/syscall.h> in user space,
 * <asm/unistd.h> in the kernel.
 */
#ifndef _UAPI_LINUX_FERRY_BLOCKED_H
#define _UAPI_LINUX_FERRY_BLOCKED_H

#include <linux/ferry.h>

/* A call that this architecture does not have: matches no slot. */
#define FERRY_NR_ABSENT (-1)

#if defined(__x86_64__)
#define FERRY_NR_FORK 57
#elif defined(__NR_fork)
#define FERRY_NR_FORK __NR_fork
#else
#define FERRY_NR_FORK FERRY_NR_ABSENT
#endif

#if defined(__x86_64__)
#define FERRY_NR_VFORK 58
#elif defined(__NR_vfork)
#define FERRY_NR_VFORK __NR_vfork
#else
#define FERRY_NR_VFORK FERRY_NR_ABSENT
#endif

#define FERRY_NR_CLONE3 435

#if defined(__x86_64__)
#define FERRY_NR_URETPROBE 335
#elif defined(__NR_uretprobe)
#define FERRY_NR_URETPROBE __NR_uretprobe
#else
#define FERRY_NR_URETPROBE FERRY_NR_ABSENT
#endif

#if defined(__x86_64__)
#define FERRY_NR_UPROBE 336
#elif defined(__NR_uprobe)
#define FERRY_NR_UPROBE __NR_uprobe
#else
#define FERRY_NR_UPROBE FERRY_NR_ABSENT
#endif

#if defined(__x86_64__)
#define FERRY_NR_AFS_SYSCALL 183
#elif defined(__NR_afs_syscall)
#define FERRY_NR_AFS_SYSCALL __NR_afs_syscall
#else
#define FERRY_NR_AFS_SYSCALL FERRY_NR_ABSENT
#endif

/* X(context, number, name, reason) for every row; context is passed through. */
/* clang-format off */
#define FERRY_BLOCKED_TABLE(X, ctx) \
	X(ctx, FERRY_NR_FORK, "fork", \
	  "duplicates the caller: the child would go on with the batch") \
	X(ctx, FERRY_NR_VFORK, "vfork", \
	  "duplicates the caller on its own stack") \
	X(ctx, __NR_clone, "clone", \
	  "duplicates the caller: the child returns to another stack") \
	X(ctx, FERRY_NR_CLONE3, "clone3", \
	  "duplicates the caller: the child returns to another stack") \
	X(ctx, __NR_execve, "execve", \
	  "replaces the caller, and the batch with it") \
	X(ctx, __NR_execveat, "execveat", \
	  "replaces the caller, and the batch with it") \
	X(ctx, __NR_exit, "exit", \
	  "ends the caller: no result could be stored") \
	X(ctx, __NR_exit_group, "exit_group", \
	  "ends the caller: no result could be stored") \
	X(ctx, __NR_reboot, "reboot", \
	  "may end the caller: no result could be stored") \
	X(ctx, __NR_rt_sigreturn, "rt_sigreturn", \
	  "replaces every register: it has no result") \
	X(ctx, __NR_restart_syscall, "restart_syscall", \
	  "goes on with a call that the batch did not make") \
	X(ctx, FERRY_NR_URETPROBE, "uretprobe", \
	  "returns to the probed function, not to its caller") \
	X(ctx, FERRY_NR_UPROBE, "uprobe", \
	  "returns to the probed instruction, not to its caller") \
	X(ctx, FERRY_NR_BATCH, "batch", \
	  "a batch within a batch would be a backward jump") \
	X(ctx, FERRY_NR_AFS_SYSCALL, "afs_syscall", \
	  "is batch under the series' compatibility option") \
	X(ctx, FERRY_NR_FLEXSC_REGISTER, "flexsc_register", \
	  "binds the calling thread to its entries") \
	X(ctx, FERRY_NR_FLEXSC_SERVE, "flexsc_serve", \
	  "does not come back while there is work")
/* clang-format on */

/* Numbers from here on are never blocked, and exist in no kernel. */
#define FERRY_BLOCKED_LIMIT 512

/* clang-format off */
/* The table as a bitmap: ferry_blocked_map[nr / 64], bit nr % 64. */
#define FERRY_BLOCKED_BIT(word, nr, name, reason) \
	| ((nr) >= 0 && (nr) / 64 == (word) ? 1UL << ((nr) & 63) : 0UL)
#define FERRY_BLOCKED_WORD(word) (0UL FERRY_BLOCKED_TABLE(FERRY_BLOCKED_BIT, word))
#define FERRY_BLOCKED_WORDS                                                         \
	{ FERRY_BLOCKED_WORD(0), FERRY_BLOCKED_WORD(1), FERRY_BLOCKED_WORD(2),      \
	  FERRY_BLOCKED_WORD(3), FERRY_BLOCKED_WORD(4), FERRY_BLOCKED_WORD(5),      \
	  FERRY_BLOCKED_WORD(6), FERRY_BLOCKED_WORD(7) }
/* clang-format on */

#endif /* _UAPI_LINUX_FERRY_BLOCKED_H */

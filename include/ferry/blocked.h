/* SPDX-License-Identifier: MIT */
#ifndef FERRY_BLOCKED_H
#define FERRY_BLOCKED_H

#include <asm/unistd.h>

/*
 * The calls that no batch makes, with the reason for each: they duplicate, replace or
 * end the caller, or do not return with a result.
 */

/* Numbers from here on are never blocked, and no kernel uses them. */
#define SUBCALL_NR_LIMIT 512

/* The number of a call that this architecture does not have: no slot makes it. */
#define SUBCALL_NR_ABSENT (-1)

#if defined(__x86_64__)
#define SUBCALL_NR_FORK 57
#elif defined(__NR_fork)
#define SUBCALL_NR_FORK __NR_fork
#else
#define SUBCALL_NR_FORK SUBCALL_NR_ABSENT
#endif

#if defined(__x86_64__)
#define SUBCALL_NR_VFORK 58
#elif defined(__NR_vfork)
#define SUBCALL_NR_VFORK __NR_vfork
#else
#define SUBCALL_NR_VFORK SUBCALL_NR_ABSENT
#endif

#define SUBCALL_NR_CLONE3 435

#if defined(__x86_64__)
#define SUBCALL_NR_URETPROBE 335
#elif defined(__NR_uretprobe)
#define SUBCALL_NR_URETPROBE __NR_uretprobe
#else
#define SUBCALL_NR_URETPROBE SUBCALL_NR_ABSENT
#endif

#if defined(__x86_64__)
#define SUBCALL_NR_UPROBE 336
#elif defined(__NR_uprobe)
#define SUBCALL_NR_UPROBE __NR_uprobe
#else
#define SUBCALL_NR_UPROBE SUBCALL_NR_ABSENT
#endif

#define SUBCALL_NR_BATCH 501

#define SUBCALL_NR_FLEXSC_REGISTER 504

#define SUBCALL_NR_FLEXSC_SERVE 506

/* X(context, number, name, reason) for every row; context is passed through. */
/* clang-format off */
#define SUBCALL_BLOCKED_TABLE(X, ctx) \
	X(ctx, SUBCALL_NR_FORK, "fork", \
	  "duplicates the caller: the child would go on with the batch") \
	X(ctx, SUBCALL_NR_VFORK, "vfork", \
	  "duplicates the caller on its own stack") \
	X(ctx, __NR_clone, "clone", \
	  "duplicates the caller: the child returns to another stack") \
	X(ctx, SUBCALL_NR_CLONE3, "clone3", \
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
	X(ctx, SUBCALL_NR_URETPROBE, "uretprobe", \
	  "returns to the probed function, not to its caller") \
	X(ctx, SUBCALL_NR_UPROBE, "uprobe", \
	  "returns to the probed instruction, not to its caller") \
	X(ctx, SUBCALL_NR_BATCH, "batch", \
	  "a batch within a batch would be a backward jump") \
	X(ctx, SUBCALL_NR_FLEXSC_REGISTER, "flexsc_register", \
	  "checks entries for flexsc_serve(), which no batch calls") \
	X(ctx, SUBCALL_NR_FLEXSC_SERVE, "flexsc_serve", \
	  "does not come back while there is work")
/* clang-format on */

#endif

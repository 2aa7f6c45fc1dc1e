/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface between ferry's system calls and the kernel's entry code.
 */
#ifndef _LINUX_FERRY_H
#define _LINUX_FERRY_H

#include <linux/types.h>
#include <uapi/linux/ferry.h>

struct pt_regs;

/* A slot without its arguments; those are fetched into the caller's registers. */
struct ferry_head {
	union {
		struct {
			s16 nr;
			s16 jump_fail;
			s16 jump_zero;
			s16 jump_pos;
		};
		u64 first_word;
	};
	union {
		struct {
			u8 argc;
			u8 from[FERRY_MAX_ARGS];
			u8 reserved;
		};
		u64 second_word;
	};
};

/* Both architectures with batch() are little-endian: the number is in the low bits. */
static __always_inline bool ferry_has_jumps(const struct ferry_head *head)
{
	return head->first_word >> 16;
}

/* Errors of ferry_store_and_fetch() in <asm/ferry.h>: which of the two failed. */
enum { FERRY_BAD_RET = 1, FERRY_BAD_SLOT };

/*
 * A system call that makes others reports them to ptrace, seccomp, audit and
 * tracepoints, as entry code does for calls from user space.  The caller's
 * registers hold the call: number, arguments, and -ENOSYS as its result.
 */

/* The work at the entry of a call.  False: do not make the call, its result is set. */
bool subcall_enter(struct pt_regs *regs);

/* The work at the exit of a call, whose result is set. */
void subcall_exit(struct pt_regs *regs);

/* Reports that a call that was allowed before, and exited, is entered again. */
void subcall_reenter(struct pt_regs *regs);

#ifdef CONFIG_SECCOMP_FILTER
/* Whether a filter answers the call in current's registers with SIGSYS. */
bool seccomp_traps(void);

/*
 * Whether seccomp makes the call in current's registers fail, or kills for it.  In strict
 * mode it does so for every call that asks.
 */
bool seccomp_refuses(void);
#else
static inline bool seccomp_traps(void)
{
	return false;
}

static inline bool seccomp_refuses(void)
{
	return false;
}
#endif

#endif /* _LINUX_FERRY_H */

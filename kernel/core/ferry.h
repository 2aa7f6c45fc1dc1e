/* SPDX-License-Identifier: GPL-2.0 */
/*
 * System calls that make others: the interface between them, the entry code, seccomp and
 * signal delivery.
 */
#ifndef _LINUX_FERRY_H
#define _LINUX_FERRY_H

#include <linux/limits.h>
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
	return head->first_word > U16_MAX;
}

/*
 * Makes call NR, whose arguments are in REGS, the registers of current, for a task with
 * entry work.  seccomp, audit and tracepoints see it as a call from user space.  Tracers and
 * SIGSYS handlers also change the registers of that call, and only user space has those: for
 * them it sets *REFUSED, does nothing, and returns a value without meaning.
 */
long subcall_with_work(struct pt_regs *regs, unsigned int nr, bool *refused);

/*
 * Audit and tracepoints expect calls one after another, not nested.  So they see the outer
 * call exit, as if to be restarted, before the calls that it makes, and enter again after
 * them.  Returns whether there is anything to resume.
 */
bool subcall_suspend_outer(struct pt_regs *regs);
void subcall_resume_outer(struct pt_regs *regs);

/*
 * Whether seccomp permits the call in current's registers.  Where it would raise SIGSYS or
 * stop for a tracer, it sets *REFUSED.
 */
#ifdef CONFIG_SECCOMP
bool seccomp_permit_subcall(bool *refused);
#else
static inline bool seccomp_permit_subcall(bool *refused)
{
	return true;
}
#endif

/*
 * Signal delivery is about to run a handler with SA_FLAGS.  If that ends a call within
 * another, the outer call is restarted and told so.
 */
#ifdef CONFIG_FERRY_BATCH
void subcall_handle_signal(struct pt_regs *regs, unsigned long sa_flags);
#else
static inline void subcall_handle_signal(struct pt_regs *regs, unsigned long sa_flags)
{
}
#endif

#endif /* _LINUX_FERRY_H */

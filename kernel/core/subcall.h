/* SPDX-License-Identifier: GPL-2.0 */
/* System calls that make others: the interface between them, the entry code and seccomp. */
#ifndef _LINUX_SUBCALL_H
#define _LINUX_SUBCALL_H

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/types.h>
#include <uapi/linux/subcall.h>

struct pt_regs;

/* A slot without its arguments; those are fetched into the caller's registers. */
struct batch_head {
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
			u8 from[BATCH_MAX_ARGS];
			u8 reserved;
		};
		u64 second_word;
	};
};

/* All architectures with batch() are little-endian: the number is in the low bits. */
static __always_inline bool batch_has_jumps(const struct batch_head *head)
{
	return head->first_word > U16_MAX;
}

/*
 * Makes call NR, whose arguments are in REGS, the registers of current, for a task with entry
 * work.  Where only a call from user space gives a watcher what it expects, this sets *REFUSED,
 * does nothing, and returns a value without meaning.
 */
#ifdef CONFIG_SUBCALL_SECCOMP
long subcall_watched(struct pt_regs *regs, unsigned int nr, bool *refused);

/*
 * Whether seccomp permits the call in current's registers.  Where it would raise SIGSYS or
 * stop for a tracer, it sets *REFUSED.
 */
bool seccomp_permit_subcall(bool *refused);
#else
static inline long subcall_watched(struct pt_regs *regs, unsigned int nr, bool *refused)
{
	*refused = true;
	return -ERESTARTNOINTR;
}
#endif

/* The number of current's filters; -1 in strict mode, which is never left. */
static inline int subcall_count_filters(void)
{
	/* Another thread may set a filter meanwhile, but not strict mode. */
	if (data_race(seccomp_mode(&current->seccomp)) == SECCOMP_MODE_STRICT)
		return -1;
#ifdef CONFIG_SECCOMP_FILTER
	return atomic_read(&current->seccomp.filter_count);
#else
	return 0;
#endif
}

#endif /* _LINUX_SUBCALL_H */

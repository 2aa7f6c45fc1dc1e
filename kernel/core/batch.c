// SPDX-License-Identifier: GPL-2.0
/*
 * batch(): an array of system calls with forward jumps, run in one crossing.
 * Documentation/userspace-api/batch.rst describes the semantics.
 *
 * Both the system call and the module's /dev/ferry use this code; struct ferry_caller
 * hides the differences.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/ferry.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <uapi/linux/ferry_blocked.h>

#include "batch.h"
#include "restart.h"

struct batch {
	struct ferry_caller *caller;
	struct pt_regs *regs; /* the caller's */
	s64 __user *rets;
	const struct ferry_slot __user *calls;
	unsigned long ncall;
	/* Slots before this one are in user space, and so are their results. */
	const struct ferry_slot __user *end;
	struct ferry_head head; /* of the current slot */
	long answer;		/* of batch(), once the batch has stopped */
};

/* A byte per number, so that a slot takes one test without shifts. */
#define BLOCKED_ROW(ctx, nr, name, reason) [(nr) & (FERRY_BLOCKED_LIMIT - 1)] = true,
static const bool is_blocked[FERRY_BLOCKED_LIMIT] = {
	FERRY_BLOCKED_TABLE(BLOCKED_ROW, 0)
};

static_assert(FERRY_NR_CALLS <= FERRY_BLOCKED_LIMIT, "the table has to cover every call");

static long bad_result(s64 __user *ret)
{
	force_sig_fault(SIGSEGV, SEGV_MAPERR, ret);
	return -EFAULT;
}

/*
 * Replaces arguments of slot I by results.  Returns 0, or the slot's result if it cannot run;
 * where a result cannot be read, -ERESTARTNOINTR, and the batch has stopped.
 */
static noinline long forward(struct batch *b, unsigned long i)
{
	const struct ferry_head *head = &b->head;
	unsigned long args[FERRY_MAX_ARGS];
	unsigned int k;

	if (!(head->argc & FERRY_ARGC_FORWARD) ||
	    (head->argc & ~FERRY_ARGC_FORWARD) > FERRY_MAX_ARGS)
		return -ENOSYS;
	if (head->reserved)
		return -EINVAL;
	syscall_get_arguments(current, b->regs, args);
	for (k = 0; k < FERRY_MAX_ARGS; k++) {
		s64 __user *ret = b->rets + (i - head->from[k]);

		if (head->from[k] > i)
			return -EINVAL;
		if (head->from[k] && get_user(args[k], ret)) {
			b->answer = bad_result(ret);
			return -ERESTARTNOINTR;
		}
	}
	ferry_set_args(b->regs, args);
	return 0;
}

static long copy_word(struct pt_regs *regs)
{
	unsigned long args[FERRY_MAX_ARGS];
	u64 word;

	syscall_get_arguments(current, regs, args);
	if (get_user(word, (u64 __user *)args[1]) || put_user(word, (u64 __user *)args[0]))
		return -EFAULT;
	return 0;
}

long ferry_run_call(struct ferry_caller *caller, unsigned int nr)
{
	if (nr < FERRY_BLOCKED_LIMIT && is_blocked[array_index_nospec(nr, FERRY_BLOCKED_LIMIT)])
		return -ENOSYS;
	return subcall(caller->regs, nr, &caller->refused);
}

/* Runs SLOT, which has been fetched into b->head and the registers. */
static __always_inline long run_slot(struct batch *b, struct pt_regs *regs,
				     const struct ferry_slot __user *slot)
{
	unsigned int nr = (u16)b->head.nr;

	if (unlikely(b->head.argc > FERRY_MAX_ARGS)) {
		long bad = forward(b, slot - b->calls);

		if (bad)
			return bad;
	}
	if (unlikely(nr >= FERRY_BLOCKED_LIMIT)) {
		if (b->head.nr == FERRY_NR_WDCPY)
			return copy_word(regs);
		/* No kernel has the other calls, but filters see them. */
		return b->head.nr < 0 ? -ENOSYS : subcall(regs, nr, &b->caller->refused);
	}
	nr = array_index_nospec(nr, FERRY_BLOCKED_LIMIT);
	if (unlikely(is_blocked[nr]))
		return -ENOSYS;
	return subcall(regs, nr, &b->caller->refused);
}

/* The number of slots to skip after RESULT; negative if the batch ends. */
static short jump(const struct ferry_head *head, long result)
{
	if (!result)
		return head->jump_zero;
	return IS_ERR_VALUE(result) ? head->jump_fail : head->jump_pos;
}

/* Slot I, to which a jump led that skipped SKIPPED slots.  HOW has bits of positions. */
static unsigned long position(unsigned long i, unsigned long skipped, unsigned long how)
{
	return FERRY_BATCH_RESUME | how | i << FERRY_RESUME_SHIFT | skipped << FERRY_SKIPPED_SHIFT;
}

void ferry_do_pending_work(struct pt_regs *regs)
{
	if (read_thread_flags() & FERRY_TIF_NEED_RESCHED)
		schedule();
	/* schedule() itself may ask for this, for restartable sequences. */
	if (read_thread_flags() & _TIF_NOTIFY_RESUME)
		resume_user_mode_work(regs);
	/* The exit to user space does the rest, and with this flag also restarts the call. */
	if (read_thread_flags() & FERRY_TIF_WORK & ~FERRY_TIF_NEED_RESCHED)
		set_thread_flag(TIF_NOTIFY_SIGNAL);
}

/*
 * What comes of the call of slot I, which ended with RESULT, a restart code, and was continued
 * as HOW says.  True: the batch stops.  False: RESULT is the slot's result.
 */
static noinline bool settle(struct batch *b, unsigned long i, long result, unsigned long how)
{
	struct ferry_caller *caller = b->caller;

	if (b->answer) /* SIGSEGV is pending */
		return true;
	if (caller->refused) {
		caller->position = position(i, 0, how & FERRY_BATCH_RESTART);
		b->answer = FERRY_BATCH_PARTIAL | caller->position;
		return true;
	}
	if (!ferry_is_interrupted(result))
		return false;
	ferry_keep_call(b->calls + i, &b->head, b->regs);
	how = result == -ERESTART_RESTARTBLOCK ? FERRY_BATCH_RESTART : 0;
	caller->position = position(i, 0, FERRY_BATCH_INTERRUPTED | how);
	b->answer = ferry_outer_result(result);
	return true;
}

/*
 * Steps from SLOT to NEXT when there is work that cannot wait for the end of the batch.
 * False: the batch stops.
 */
static noinline bool step_with_work(struct batch *b, const struct ferry_slot __user *slot,
				    const struct ferry_slot __user *next, long result)
{
	s64 __user *ret = b->rets + (slot - b->calls);

	switch (ferry_store_and_fetch(ret, result, &b->head, b->regs, next)) {
	case FERRY_BAD_RET:
		b->answer = bad_result(ret);
		return false;
	case FERRY_BAD_SLOT:
		b->answer = slot - b->calls;
		return false;
	}
	ferry_do_pending_work(b->regs);
	if (!signal_pending(current))
		return true;
	/* User space may rely on it that the slot of a position can be read. */
	b->caller->position = position(next - b->calls, next - slot - 1, 0);
	b->answer = -ERESTARTNOINTR;
	return false;
}

/* Whether there is a slot at SLOT and room for its result.  Otherwise sets b->answer. */
static bool reach(struct batch *b, const struct ferry_slot __user *slot, long last)
{
	unsigned long i = slot - b->calls;

	b->answer = last;
	if (i >= b->ncall || !access_ok(slot, sizeof(*slot)))
		return false;
	if (!access_ok(b->rets + i, sizeof(*b->rets))) {
		b->answer = bad_result(b->rets + i);
		return false;
	}
	b->answer = 0;
	b->end = slot + 1;
	return true;
}

/* Stores the result of slot I.  Returns I, which is the last one. */
static noinline long end_batch(struct batch *b, unsigned long i, long result)
{
	return put_user(result, b->rets + i) ? bad_result(b->rets + i) : i;
}

/* The result of the slot that signals interrupted; HOW says how they left it. */
static noinline long continue_slot(struct batch *b, const struct ferry_slot __user *slot,
				   unsigned long how)
{
	if (how & FERRY_BATCH_EINTR)
		return -EINTR;
	if (how & FERRY_BATCH_RESTART)
		return subcall(b->regs, __NR_restart_syscall, &b->caller->refused);
	return run_slot(b, b->regs, slot);
}

/* Runs slots from SLOT, which has been fetched; HOW has the bits of its position. */
static long run_slots(struct batch *b, const struct ferry_slot __user *slot, unsigned long how)
{
	s64 __user *ret = b->rets + (slot - b->calls);
	struct pt_regs *regs = b->regs;
	long result;

	if (unlikely(how)) {
		result = continue_slot(b, slot, how);
		goto have_result;
	}
	for (;;) {
		const struct ferry_slot __user *next;
		s64 __user *next_ret;

		result = run_slot(b, regs, slot);
have_result:
		if (ferry_is_restart(result) && settle(b, slot - b->calls, result, how))
			return b->answer;
		next = slot + 1;
		next_ret = ret + 1;
		if (unlikely(ferry_has_jumps(&b->head))) {
			short skip = jump(&b->head, result);

			if (skip < 0)
				return end_batch(b, slot - b->calls, result);
			next += skip;
			next_ret += skip;
		}
		if (unlikely(next >= b->end) && !reach(b, next, slot - b->calls)) {
			long answer = b->answer;
			long last = end_batch(b, slot - b->calls, result);

			return last < 0 ? last : answer;
		}
		if (likely(!(read_thread_flags() & FERRY_TIF_WORK))) {
			switch (ferry_store_and_fetch(ret, result, &b->head, regs, next)) {
			case FERRY_BAD_RET:
				return bad_result(ret);
			case FERRY_BAD_SLOT:
				return slot - b->calls;
			}
		} else if (!step_with_work(b, slot, next, result)) {
			return b->answer;
		}
		slot = next;
		ret = next_ret;
		how = 0;
	}
}

/* Runs the batch from position FLAGS; from slot 0 if FLAGS is 0. */
static long run_batch(struct ferry_caller *caller, s64 __user *rets,
		      const struct ferry_slot __user *calls, unsigned long ncall,
		      unsigned long flags)
{
	const unsigned long how = FERRY_BATCH_RESTART | FERRY_BATCH_EINTR | FERRY_BATCH_INTERRUPTED;
	unsigned long start = FERRY_RESUME_INDEX(flags);
	/* The slot that ran before, if START is not the first. */
	long last = start ? start - 1 - FERRY_RESUME_SKIPPED(flags) : -EFAULT;
	const struct ferry_slot __user *slot = calls + start;
	struct batch b __uninitialized; /* clearing it would cost as much as a slot's work */

	if (ncall > FERRY_MAX_SLOTS)
		return -EINVAL;
	if (!ncall)
		return 0;
	if (!calls || (unsigned long)calls >= -ncall * sizeof(*calls) || start >= ncall)
		return -EFAULT;
	b.caller = caller;
	b.regs = caller->regs;
	b.rets = rets;
	b.calls = calls;
	b.ncall = ncall;
	b.answer = 0;
	if (likely(access_ok(calls, ncall * sizeof(*calls)) &&
		   access_ok(rets, ncall * sizeof(*rets))))
		b.end = calls + ncall;
	else if (!reach(&b, slot, last))
		return b.answer;
	if (!(flags & FERRY_BATCH_INTERRUPTED) || !ferry_take_back_call(slot, &b.head, b.regs)) {
		/* A handler that ran before a restart may have unmapped the slot. */
		if (ferry_fetch(&b.head, b.regs, slot))
			return last;
	}
	return run_slots(&b, slot, flags & how);
}

#define VERSION_AND_FEATURES \
	(FERRY_ABI_VERSION | (FERRY_FEATURE_WDCPY | FERRY_FEATURE_FORWARD) << FERRY_FEATURE_SHIFT)

long ferry_batch(struct ferry_caller *caller, s64 __user *rets,
		 const struct ferry_slot __user *calls, unsigned long ncall, unsigned long flags,
		 unsigned long size)
{
	const unsigned long options = FERRY_BATCH_RESUME - 1;
	const unsigned long how = FERRY_BATCH_RESTART | FERRY_BATCH_EINTR | FERRY_BATCH_INTERRUPTED;

	if (likely(!flags))
		return size && size != sizeof(*calls) ? -EINVAL :
							run_batch(caller, rets, calls, ncall, 0);
	if (flags & FERRY_BATCH_RESUME)
		return flags & ((options & ~how) | FERRY_BATCH_PARTIAL | 1UL << 63) ?
			       -EINVAL : run_batch(caller, rets, calls, ncall, flags);
	if (flags == FERRY_BATCH_QUERY && !rets && !calls && !ncall && !size)
		return VERSION_AND_FEATURES;
	return -EINVAL;
}

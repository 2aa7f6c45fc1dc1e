// SPDX-License-Identifier: GPL-2.0
/*
 * batch(): an array of system calls with forward jumps, run in one crossing.
 * Documentation/userspace-api/batch.rst describes the semantics.
 *
 * Both the system call and the module's /dev/ferry use this code; struct ferry_caller
 * hides the differences.
 */
#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/restart_block.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/ferry.h>
#include <asm/unistd.h>
#include <uapi/linux/ferry_blocked.h>

#include "batch.h"
#include "restart.h"

struct batch {
	struct ferry_caller *caller;
	struct pt_regs *regs; /* the caller's */
	long __user *rets;
	const struct ferry_slot __user *calls;
	unsigned long ncall;
	/* Slots before this one are in user space, and so are their results. */
	const struct ferry_slot __user *end;
	struct ferry_head head; /* of the current slot */
};

/* In addition to FERRY_BAD_RET and FERRY_BAD_SLOT. */
enum { BATCH_LEFT = FERRY_BAD_SLOT + 1 };

/* A byte per number, so that a slot takes one test without shifts. */
#define BLOCKED_ROW(ctx, nr, name, reason) [(nr) & (FERRY_BLOCKED_LIMIT - 1)] = true,
static const bool is_blocked[FERRY_BLOCKED_LIMIT] = {
	FERRY_BLOCKED_TABLE(BLOCKED_ROW, 0)
};

static long bad_result(long __user *ret)
{
	force_sig_fault(SIGSEGV, SEGV_MAPERR, ret);
	return -EFAULT;
}

/*
 * Replaces arguments of slot I by results.  Returns 0, or the slot's result if it
 * cannot run.
 */
static noinline long forward(struct batch *b, unsigned long i)
{
	const struct ferry_head *head = &b->head;
	u64 from; /* byte k: how far back the result for argument k is */

	if (!(head->argc & FERRY_ARGC_FORWARD) ||
	    (head->argc & ~FERRY_ARGC_FORWARD) > FERRY_MAX_ARGS)
		return -ENOSYS;
	if (head->reserved)
		return -EINVAL;
	from = head->second_word >> 8;
	while (from) {
		unsigned int k = __ffs64(from) / BITS_PER_BYTE;
		unsigned long back = from >> (k * BITS_PER_BYTE) & 0xff;
		long __user *ret = b->rets + (i - back);

		if (back > i)
			return -EINVAL;
		if (get_user(*ferry_arg(b->regs, k), ret)) {
			bad_result(ret);
			b->caller->stopped = STOPPED_FAULTING;
			return FERRY_NO_RESULT;
		}
		from &= ~(0xffULL << (k * BITS_PER_BYTE));
	}
	return 0;
}

static long copy_word(struct pt_regs *regs)
{
	unsigned long __user *to = (unsigned long __user *)*ferry_arg(regs, 0);
	const unsigned long __user *from = (const unsigned long __user *)*ferry_arg(regs, 1);
	unsigned long word;

	if (get_user(word, from) || put_user(word, to))
		return -EFAULT;
	return 0;
}

long ferry_make_call(struct pt_regs *regs, unsigned long nr)
{
	if (unlikely(nr >= FERRY_NR_CALLS))
		return -ENOSYS;
	nr = array_index_nospec(nr, FERRY_NR_CALLS);
	if (unlikely(is_blocked[nr]))
		return -ENOSYS;
	return ferry_dispatch(regs, nr);
}

long ferry_run_call(struct ferry_caller *caller, unsigned long nr)
{
	if (likely(!ferry_watched()))
		return ferry_make_call(caller->regs, nr);
	if (nr < FERRY_NR_CALLS && is_blocked[array_index_nospec(nr, FERRY_NR_CALLS)])
		return -ENOSYS;
	return ferry_watched_call(caller, nr);
}

long ferry_restart_call(void)
{
	struct restart_block *restart = &current->restart_block;

	return restart->fn(restart);
}

/* For a number that is not a system call. */
static noinline long run_odd_slot(struct batch *b, unsigned long nr)
{
	if (b->head.nr == FERRY_NR_WDCPY)
		return copy_word(b->regs);
	if (b->head.nr >= 0 && ferry_watched())
		return ferry_watched_call(b->caller, nr);
	return -ENOSYS;
}

/* Runs SLOT, which has been fetched into b->head and the registers. */
static __always_inline long run_slot(struct batch *b, struct pt_regs *regs,
				     const struct ferry_slot __user *slot)
{
	unsigned long nr = (unsigned short)b->head.nr;

	if (unlikely(b->head.argc > FERRY_MAX_ARGS)) {
		long bad = forward(b, slot - b->calls);

		if (bad)
			return bad;
	}
	if (unlikely(nr >= FERRY_NR_CALLS))
		return run_odd_slot(b, nr);
	nr = array_index_nospec(nr, FERRY_NR_CALLS);
	if (unlikely(is_blocked[nr]))
		return -ENOSYS;
	if (unlikely(ferry_watched()))
		return ferry_watched_call(b->caller, nr);
	return ferry_dispatch(regs, nr);
}

/* The number of slots to skip after RESULT; negative if the batch ends. */
static short jump(const struct ferry_head *head, long result)
{
	if (!result)
		return head->jump_zero;
	return IS_ERR_VALUE(result) ? head->jump_fail : head->jump_pos;
}

/* The batch continues at slot I after the signals have been handled. */
static long leave_for_signals(struct batch *b, unsigned long i, unsigned long how)
{
	b->caller->position = FERRY_BATCH_RESUME | how | i << FERRY_RESUME_SHIFT;
	return -ERESTARTNOINTR;
}

/* The caller has to make the call of slot I. */
static long refuse(struct batch *b, unsigned long i)
{
	if (i)
		b->caller->position = FERRY_BATCH_RESUME | i << FERRY_RESUME_SHIFT;
	return -EOPNOTSUPP;
}

void ferry_do_pending_work(struct pt_regs *regs)
{
	unsigned long flags = read_thread_flags();

	if (flags & FERRY_TIF_NEED_RESCHED)
		schedule();
	if (flags & FERRY_TIF_RESUME)
		ferry_resume_user_mode_work(regs);
}

/*
 * The result of slot I, whose call ended with CODE; or the return value of batch()
 * if that stops the batch.
 */
static noinline long settle(struct batch *b, unsigned long i, long code)
{
	if (b->caller->stopped == STOPPED_REFUSING)
		return refuse(b, i);
	if (b->caller->stopped == STOPPED_FAULTING)
		return -EFAULT;
	if (code == -ENOIOCTLCMD) /* in the range of restart codes, but from a driver */
		return code;
	if (!ferry_call_restarts(code))
		return -EINTR;
	b->caller->stopped = STOPPED_FOR_SIGNALS;
	return leave_for_signals(b, i, code == -ERESTART_RESTARTBLOCK ? FERRY_BATCH_RESTART : 0);
}

/*
 * Steps from SLOT to NEXT when there is work that cannot wait for the end of the
 * batch.  Returns the result of ferry_store_and_fetch(), or BATCH_LEFT if the batch
 * has to leave the kernel; *LEFT is then its return value.
 */
static noinline int step_with_work(struct batch *b, const struct ferry_slot __user *slot,
				   const struct ferry_slot __user *next, long result, long *left)
{
	long __user *ret = b->rets + (slot - b->calls);
	int error;

	/* The caller will not see the result, and other processes must not. */
	if (ferry_signal_kills()) {
		*left = -EINTR;
		return BATCH_LEFT;
	}
	error = ferry_store_and_fetch(ret, result, &b->head, b->regs, next);
	if (error)
		return error;
	ferry_do_pending_work(b->regs);
	if (!signal_pending(current))
		return 0;
	*left = leave_for_signals(b, next - b->calls, 0);
	return BATCH_LEFT;
}

/* Stores the result of slot I, after which no slot before b->end runs. */
static noinline long end_batch(struct batch *b, unsigned long i,
			       const struct ferry_slot __user *next, long result)
{
	if (ferry_signal_kills())
		return -EINTR;
	if (put_user(result, b->rets + i))
		return bad_result(b->rets + i);
	/* The next slot may exist although its result would be outside user space. */
	if (next && next < b->calls + b->ncall && access_ok(next, sizeof(*next)))
		return bad_result(b->rets + (next - b->calls));
	return i;
}

/* Runs slots from SLOT, which has been fetched; with RESTART its call was interrupted. */
static long run_slots(struct batch *b, const struct ferry_slot __user *slot, bool restart)
{
	long __user *ret = b->rets + (slot - b->calls);
	struct pt_regs *regs = b->regs;
	long result, left;
	int error;

	if (unlikely(restart)) {
		result = ferry_watched() ? ferry_watched_call(b->caller, __NR_restart_syscall) :
					   ferry_restart_call();
		goto have_result;
	}
	for (;;) {
		const struct ferry_slot __user *next;
		long __user *next_ret;

		result = run_slot(b, regs, slot);
have_result:
		if (ferry_is_internal(result)) {
			result = settle(b, slot - b->calls, result);
			if (b->caller->stopped)
				return result;
		}
		next = slot + 1;
		next_ret = ret + 1;
		if (unlikely(ferry_has_jumps(&b->head))) {
			short skip = jump(&b->head, result);

			if (skip < 0)
				return end_batch(b, slot - b->calls, NULL, result);
			next += skip;
			next_ret += skip;
		}
		if (unlikely(next >= b->end))
			return end_batch(b, slot - b->calls, next, result);
		if (likely(!(read_thread_flags() & FERRY_TIF_WORK)))
			error = ferry_store_and_fetch(ret, result, &b->head, regs, next);
		else
			error = step_with_work(b, slot, next, result, &left);
		switch (error) {
		case FERRY_BAD_RET:
			return bad_result(ret);
		case FERRY_BAD_SLOT:
			return slot - b->calls;
		case BATCH_LEFT:
			return left;
		}
		slot = next;
		ret = next_ret;
	}
}

/* How many items of SIZE from USER on are in user space. */
static unsigned long items_in_user_space(const void __user *user, size_t size)
{
	unsigned long address = (unsigned long)user;

	return address < FERRY_USER_END ? (FERRY_USER_END - address) / size : 0;
}

/* Runs the batch from the slot encoded in FLAGS; from slot 0 if FLAGS is 0. */
static long run_batch(struct ferry_caller *caller, long __user *rets,
		      const struct ferry_slot __user *calls, unsigned long ncall,
		      unsigned long flags)
{
	unsigned long limit = min3(ncall, items_in_user_space(calls, sizeof(*calls)),
				   items_in_user_space(rets, sizeof(*rets)));
	unsigned long start = flags >> FERRY_RESUME_SHIFT;
	struct batch b __uninitialized; /* clearing it would cost as much as a slot's work */

	if (ncall > FERRY_MAX_SLOTS)
		return -EINVAL;
	if (!ncall)
		return 0;
	if (!calls || (unsigned long)calls >= -ncall * sizeof(*calls))
		return -EFAULT;
	if (start >= limit) {
		if (start < ncall && access_ok(calls + start, sizeof(*calls)))
			return bad_result(rets + start);
		return -EFAULT;
	}
	b.caller = caller;
	b.regs = caller->regs;
	b.rets = rets;
	b.calls = calls;
	b.ncall = ncall;
	b.end = calls + limit;
	/* A handler that ran before a restart may have unmapped the slot. */
	if (ferry_fetch(&b.head, b.regs, calls + start))
		return start ? start - 1 : -EFAULT;
	return run_slots(&b, calls + start, flags & FERRY_BATCH_RESTART);
}

#define VERSION_AND_FEATURES \
	(FERRY_ABI_VERSION | (FERRY_FEATURE_WDCPY | FERRY_FEATURE_FORWARD) << FERRY_FEATURE_SHIFT)

long ferry_batch(struct ferry_caller *caller, long __user *rets,
		 const struct ferry_slot __user *calls, unsigned long ncall, unsigned long flags,
		 unsigned long size)
{
	const unsigned long resume = FERRY_BATCH_RESUME | FERRY_BATCH_RESTART |
				     ~0UL << FERRY_RESUME_SHIFT;

	if (flags & FERRY_BATCH_RESUME)
		return flags & ~resume ? -EINVAL : run_batch(caller, rets, calls, ncall, flags);
	if (flags == FERRY_BATCH_QUERY && !rets && !calls && !ncall && !size)
		return VERSION_AND_FEATURES;
	if (flags || (size && size != sizeof(*calls)))
		return -EINVAL;
	return run_batch(caller, rets, calls, ncall, 0);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * batch(): an array of system calls with forward jumps, run in one crossing.
 * Documentation/userspace-api/batch.rst describes the semantics.
 *
 * Both the system call and the module's /dev/ferry use this code; struct ferry_caller
 * hides the differences.
 */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/ferry.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include <asm/unistd.h>
#include <uapi/linux/ferry_blocked.h>

#include "batch.h"
#include "restart.h"

/* The bits of a position that say how a signal found its slot. */
#define HOW_BITS \
	(FERRY_BATCH_RESTART | FERRY_BATCH_EINTR | FERRY_BATCH_INTERRUPTED | FERRY_BATCH_NOHAND)

/* The most slots between two reports of a quiescent state to RCU Tasks. */
#define STRETCH 65536UL

struct batch {
	struct ferry_caller *caller;
	struct pt_regs *regs; /* the caller's */
	s64 __user *rets;
	const struct ferry_slot __user *calls;
	unsigned long ncall;
	/* Slots up to this one are in user space, and so are their results. */
	const struct ferry_slot __user *last;
	struct ferry_head head; /* of the current slot */
	long result;		/* of that slot, for step() */
	long answer;		/* of batch(), once the batch has stopped; 0 before */
};

/*
 * By number, modulo the limit: a slot with fewer arguments than this is only dispatched.  None is
 * where run_slot() has to look at the number, and none with FERRY_ARGC_FORWARD.
 */
#define WORD_COPY (FERRY_NR_WDCPY & (FERRY_BLOCKED_LIMIT - 1))
#define BLOCKED_ROW(ctx, nr, name, reason) [(nr) & (FERRY_BLOCKED_LIMIT - 1)] = 0,
static const u8 plain_below[FERRY_BLOCKED_LIMIT] = {
	[0 ... FERRY_BLOCKED_LIMIT - 1] = FERRY_MAX_ARGS + 1,
	FERRY_BLOCKED_TABLE(BLOCKED_ROW, 0)
	[WORD_COPY] = 0,
};

static_assert(FERRY_NR_CALLS <= WORD_COPY, "the table has to cover every call");

static unsigned long index_of(const struct batch *b, const struct ferry_slot __user *slot)
{
	return slot - b->calls;
}

static s64 __user *ret_of(const struct batch *b, const struct ferry_slot __user *slot)
{
	return b->rets + index_of(b, slot);
}

static long bad_result(s64 __user *ret)
{
	force_sig_fault(SIGSEGV, SEGV_MAPERR, ret);
	return -EFAULT;
}

/*
 * Replaces arguments of SLOT by results.  Returns 0, or the slot's result if it cannot run;
 * where a result cannot be read, -ERESTARTNOINTR, and the batch has stopped.
 */
static noinline long forward(struct batch *b, const struct ferry_slot __user *slot)
{
	const struct ferry_head *head = &b->head;
	unsigned long from = head->second_word << 8 >> 16; /* all of from[], and no more */
	unsigned long index = index_of(b, slot), shift, distance, word;

	if (!(head->argc & FERRY_ARGC_FORWARD) ||
	    (head->argc & ~FERRY_ARGC_FORWARD) > FERRY_MAX_ARGS)
		return -ENOSYS;
	if (head->reserved)
		return -EINVAL;
	for (; from; from &= ~(0xffUL << shift)) {
		shift = round_down(__ffs(from), 8);
		distance = from >> shift & 0xff;
		if (distance > index)
			return -EINVAL;
		if (get_user(word, b->rets + index - distance)) {
			b->answer = bad_result(b->rets + index - distance);
			return -ERESTARTNOINTR;
		}
		*ferry_arg(b->regs, shift / 8) = word;
	}
	return 0;
}

static long copy_word(struct pt_regs *regs)
{
	u64 word;

	if (get_user(word, (u64 __user *)*ferry_arg(regs, 1)) ||
	    put_user(word, (u64 __user *)*ferry_arg(regs, 0)))
		return -EFAULT;
	return 0;
}

long ferry_run_call(struct ferry_caller *caller, unsigned int nr)
{
	if (nr < WORD_COPY && !plain_below[array_index_nospec(nr, WORD_COPY)])
		return -ENOSYS;
	return subcall(caller->regs, nr, &caller->refused);
}

/* Runs any slot, which has been fetched into b->head and the registers. */
static noinline long run_slot(struct batch *b, const struct ferry_slot __user *slot)
{
	short nr = b->head.nr;

	if (b->head.argc > FERRY_MAX_ARGS) {
		long bad = forward(b, slot);

		if (bad)
			return bad;
	}
	if (nr >= 0)
		return ferry_run_call(b->caller, nr);
	return nr == FERRY_NR_WDCPY ? copy_word(b->regs) : -ENOSYS;
}

/* The number of slots to skip after RESULT; negative if the batch ends. */
static __always_inline long jump(const struct ferry_head *head, long result)
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

/*
 * Where restartable sequences have a flag of their own, the last step of the exit to user space
 * handles it.  Up to there, their slow path does, which resume_user_mode_work() takes.
 */
static void request_rseq_update(void)
{
#if defined(CONFIG_RSEQ) && defined(CONFIG_HAVE_GENERIC_TIF_BITS)
	if (!test_thread_flag(TIF_RSEQ))
		return;
	/* First, because the next context switch sets it again. */
	clear_thread_flag(TIF_RSEQ);
	current->rseq.event.slowpath = true;
	set_thread_flag(TIF_NOTIFY_RESUME);
#endif
}

void ferry_do_pending_work(struct pt_regs *regs)
{
	if (read_thread_flags() & FERRY_TIF_NEED_RESCHED)
		schedule();
	/* schedule() itself may ask for this. */
	request_rseq_update();
	if (read_thread_flags() & _TIF_NOTIFY_RESUME)
		resume_user_mode_work(regs);
	/* The exit to user space does the rest, and with this flag also restarts the call. */
	if (read_thread_flags() & FERRY_TIF_WORK & ~FERRY_TIF_NEED_RESCHED)
		set_thread_flag(TIF_NOTIFY_SIGNAL);
}

/*
 * What comes of the call of SLOT, whose result is a restart code, and which was continued as HOW
 * says.  True: the batch stops in the middle of it.  False: that is indeed the slot's result.
 */
static bool settle(struct batch *b, const struct ferry_slot __user *slot, unsigned long how)
{
	struct ferry_caller *caller = b->caller;

	if (b->answer) /* SIGSEGV is pending */
		return true;
	if (caller->refused) {
		caller->position = position(index_of(b, slot), 0, how & FERRY_BATCH_RESTART);
		b->answer = FERRY_BATCH_PARTIAL | caller->position;
		return true;
	}
	if (!ferry_is_interrupted(b->result))
		return false;
	ferry_keep_call(slot, &b->head, b->regs);
	/* restart_syscall() itself may be interrupted; the call still continues in it. */
	how = b->result == -ERESTART_RESTARTBLOCK ? FERRY_BATCH_RESTART : how & FERRY_BATCH_RESTART;
	caller->position = position(index_of(b, slot), 0, FERRY_BATCH_INTERRUPTED | how);
	b->answer = ferry_outer_result(b->result);
	return true;
}

/* Whether COUNT slots from I on, and their results, are in user space. */
static bool in_user_space(const struct batch *b, unsigned long i, unsigned long count)
{
	return access_ok(b->calls + i, count * sizeof(*b->calls)) &&
	       access_ok(b->rets + i, count * sizeof(*b->rets));
}

/*
 * Whether there is a slot I and room for its result; if only that room lacks, an error.  One
 * look covers a stretch of slots.
 */
static bool reach(struct batch *b, unsigned long i)
{
	unsigned long count;

	if (b->calls + i <= b->last)
		return true;
	if (i >= b->ncall || !access_ok(b->calls + i, sizeof(*b->calls)))
		return false;
	if (!access_ok(b->rets + i, sizeof(*b->rets))) {
		b->answer = bad_result(b->rets + i);
		return false;
	}
	count = min(b->ncall - i, STRETCH);
	b->last = b->calls + i + (in_user_space(b, i, count) ? count : 1) - 1;
	/* It waits for each task to sleep or to report this, and no slot need sleep. */
	cond_resched_tasks_rcu_qs();
	return true;
}

/*
 * Steps from SLOT, whose result is in *B, to the next one, with all checks and pending work.
 * Returns that slot, which has been fetched; NULL if the batch stops.  Unless SETTLED, the call
 * may have been interrupted; HOW says how it was continued.
 */
static noinline const struct ferry_slot __user *step(struct batch *b,
						     const struct ferry_slot __user *slot,
						     bool settled, unsigned long how)
{
	s64 __user *ret = ret_of(b, slot);
	long skip;

	if (!settled && ferry_is_restart(b->result) && settle(b, slot, how))
		return NULL;
	if (put_user(b->result, ret)) {
		b->answer = bad_result(ret);
		return NULL;
	}
	b->answer = index_of(b, slot);
	skip = jump(&b->head, b->result);
	slot += 1 + skip;
	if (skip < 0 || !reach(b, index_of(b, slot)) || ferry_fetch(&b->head, b->regs, slot))
		return NULL;
	ferry_do_pending_work(b->regs);
	if (signal_pending(current)) {
		/* User space may rely on it that the slot of a position can be read. */
		b->caller->position = position(index_of(b, slot), skip, 0);
		b->answer = -ERESTARTNOINTR;
		return NULL;
	}
	b->answer = 0;
	return slot;
}

/* The result of the slot that signals interrupted; HOW says how they left it. */
static long continue_slot(struct batch *b, const struct ferry_slot __user *slot, unsigned long how)
{
	if (how & FERRY_BATCH_EINTR)
		return -EINTR;
	if (how & FERRY_BATCH_RESTART)
		return subcall(b->regs, __NR_restart_syscall, &b->caller->refused);
	return run_slot(b, slot);
}

/* Steps from *SLOT and its *RET, over SKIP slots, if that takes no care. */
static __always_inline bool step_fast(struct batch *b, struct pt_regs *regs,
				      const struct ferry_slot __user **slot,
				      s64 __user **ret, long result, unsigned long skip)
{
	if (unlikely(*slot + skip >= b->last ||
		     ferry_store_and_fetch(*ret, result, &b->head, regs, *slot + 1 + skip)))
		return false;
	*slot += 1 + skip;
	*ret += 1 + skip;
	return true;
}

/* Runs slots from SLOT, which has been fetched, until the batch stops. */
static __always_inline void run_slots(struct batch *b, const struct ferry_slot __user *slot)
{
	struct task_struct *const task = current;
	struct pt_regs *const regs = b->regs;
	s64 __user *ret = ret_of(b, slot);

	for (;;) {
		unsigned int nr = (u16)b->head.nr;
		bool settled = false;
		long result;

		if (likely(b->head.argc < plain_below[nr % FERRY_BLOCKED_LIMIT] &&
			   !ferry_watchers(task))) {
			result = subcall_dispatch(regs, nr);
		} else {
			result = run_slot(b, slot);
			if (ferry_is_restart(result))
				goto step;
		}
		/* Without pending work, no signal has interrupted the call. */
		settled = !ferry_has_work(task);
		if (likely(settled && !ferry_has_jumps(&b->head))) {
			if (likely(step_fast(b, regs, &slot, &ret, result, 0)))
				continue;
		} else if (settled) {
			long skip = jump(&b->head, result);

			if (skip >= 0 && step_fast(b, regs, &slot, &ret, result, skip))
				continue;
		}
		/* The last slot ends the batch, wherever it jumps to. */
		if (settled && index_of(b, slot) == b->ncall - 1 && !put_user(result, ret)) {
			b->answer = b->ncall - 1;
			return;
		}
step:
		b->result = result;
		slot = step(b, slot, settled, 0);
		if (!slot)
			return;
		ret = ret_of(b, slot);
	}
}

/* Runs the batch from position FLAGS; from slot 0 if FLAGS is 0. */
static long run_batch(struct ferry_caller *caller, s64 __user *rets,
		      const struct ferry_slot __user *calls, unsigned long ncall,
		      unsigned long flags)
{
	unsigned long start = FERRY_RESUME_INDEX(flags), how = flags & HOW_BITS;
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
	/* The slot that ran before, if START is not the first. */
	b.answer = start ? start - 1 - FERRY_RESUME_SKIPPED(flags) : -EFAULT;
	b.last = NULL;
	if (likely(ncall <= STRETCH && in_user_space(&b, 0, ncall)))
		b.last = calls + ncall - 1;
	else if (!reach(&b, start))
		return b.answer;
	/* A handler that ran before a restart may have unmapped the slot. */
	if (!(how & FERRY_BATCH_INTERRUPTED && ferry_take_back_call(slot, &b.head, b.regs)) &&
	    ferry_fetch(&b.head, b.regs, slot))
		return b.answer;
	b.answer = 0;
	if (unlikely(how)) {
		b.result = continue_slot(&b, slot, how);
		slot = step(&b, slot, false, how);
	}
	if (likely(slot))
		run_slots(&b, slot);
	return b.answer;
}

#define VERSION_AND_FEATURES \
	(FERRY_ABI_VERSION | (FERRY_FEATURE_WDCPY | FERRY_FEATURE_FORWARD) << FERRY_FEATURE_SHIFT)

long ferry_batch(struct ferry_caller *caller, s64 __user *rets,
		 const struct ferry_slot __user *calls, unsigned long ncall, unsigned long flags,
		 unsigned long size)
{
	const unsigned long options = FERRY_BATCH_RESUME - 1;

	if (likely(!flags))
		return size && size != sizeof(*calls) ? -EINVAL :
							run_batch(caller, rets, calls, ncall, 0);
	if (flags & FERRY_BATCH_RESUME)
		return flags & ((options & ~HOW_BITS) | FERRY_BATCH_PARTIAL | 1UL << 63) ?
			       -EINVAL : run_batch(caller, rets, calls, ncall, flags);
	if (flags == FERRY_BATCH_QUERY && !rets && !calls && !ncall && !size)
		return VERSION_AND_FEATURES;
	return -EINVAL;
}

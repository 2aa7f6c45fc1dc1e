// SPDX-License-Identifier: GPL-2.0
/* An array of system calls, run in one crossing: Documentation/userspace-api/batch.rst */
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/subcall.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include <asm/unistd.h>

#include "batch.h"

struct batch {
	struct subcall_caller *caller;
	struct pt_regs *regs; /* the caller's */
	struct batch_args __user *args;
	s64 __user *rets;
	const struct batch_slot __user *calls;
	unsigned long ncall;
	const struct batch_slot __user *last; /* the end of calls */
	struct batch_head head; /* of the current slot */
	long result;		/* of that slot, for step() */
	long answer;		/* of batch(), if it stops now */
};

/* What a number, modulo the limit, stands for; SPECIAL: blocked, or the word copy. */
enum kind { ABSENT, CALL, SPECIAL };

#define NR_KINDS 512
#define WORD_COPY (BATCH_WDCPY & (NR_KINDS - 1))
#define BLOCKED(name) [__NR_##name] = SPECIAL,
/* The holes of the table have sys_ni_syscall(): as in __is_defined(), the comma finds them. */
#define NOT_sys_ni_syscall 0,
#define KIND_OF(not) __take_second_arg(not ABSENT, CALL)
#define __SYSCALL(nr, handler) [nr] = KIND_OF(NOT_##handler),
#define __SYSCALL_NORETURN __SYSCALL
static const u8 kinds[NR_KINDS] = {
#include <asm/subcall_table.h>
	/* They duplicate, replace or end the caller, or do not return with a result. */
	BLOCKED(clone) BLOCKED(clone3) BLOCKED(execve) BLOCKED(execveat)
	BLOCKED(exit) BLOCKED(exit_group) BLOCKED(reboot)
	BLOCKED(rt_sigreturn) BLOCKED(restart_syscall) BLOCKED(batch)
#ifdef __NR_fork
	BLOCKED(fork) BLOCKED(vfork)
#endif
#ifdef __NR_uretprobe
	BLOCKED(uretprobe)
#endif
#ifdef __NR_uprobe
	BLOCKED(uprobe)
#endif
	[WORD_COPY] = SPECIAL,
};

#ifndef SUBCALL_FREQUENT
#define subcall_dispatch_frequent(regs, nr, result) false
#endif

static_assert(SUBCALL_NR_CALLS <= WORD_COPY, "the table has to cover every call");

static unsigned long index_of(const struct batch *b, const struct batch_slot __user *slot)
{
	return slot - b->calls;
}

static s64 __user *ret_of(const struct batch *b, const struct batch_slot __user *slot)
{
	return b->rets + index_of(b, slot);
}

/*
 * Replaces arguments of SLOT by results.  Returns 0, or the slot's result if it cannot run.
 * Where a result cannot be read here, user space has to make the call.
 */
static noinline long forward(struct batch *b, const struct batch_slot __user *slot)
{
	struct batch_head *head = &b->head;
	unsigned long from = head->second_word << 8 >> 16; /* all of from[], and no more */
	unsigned long index = index_of(b, slot), shift, distance, word;

	if (!(head->argc & BATCH_ARGC_FORWARD) ||
	    (head->argc & ~BATCH_ARGC_FORWARD) > BATCH_MAX_ARGS)
		return -ENOSYS;
	if (head->reserved)
		return -EINVAL;
	for (; from; from &= ~(0xffUL << shift)) {
		shift = round_down(__ffs(from), 8);
		distance = from >> shift & 0xff;
		if (distance > index)
			return -EINVAL;
		if (get_user(word, b->rets + index - distance)) {
			b->caller->refused = true;
			return -ERESTARTNOINTR;
		}
		*subcall_arg(b->regs, shift / 8) = word;
	}
	head->second_word = head->argc & ~BATCH_ARGC_FORWARD;
	return 0;
}

static long copy_word(struct pt_regs *regs)
{
	u64 word;

	if (get_user(word, (u64 __user *)*subcall_arg(regs, 1)) ||
	    put_user(word, (u64 __user *)*subcall_arg(regs, 0)))
		return -EFAULT;
	return 0;
}

long subcall_run(struct subcall_caller *caller, unsigned int nr)
{
	if (nr < WORD_COPY && kinds[array_index_nospec(nr, WORD_COPY)] == SPECIAL)
		return -ENOSYS;
	return subcall(caller->regs, nr, &caller->refused);
}

/* Makes call NR, which nothing watches, if that takes no look at the slot. */
static __always_inline bool dispatch_plain(struct pt_regs *regs, unsigned long nr, long *result)
{
	if (subcall_dispatch_frequent(regs, nr, result))
		return true;
	if (kinds[nr % NR_KINDS] == CALL)
		*result = subcall_dispatch(regs, nr);
	else if (kinds[nr % NR_KINDS] == ABSENT)
		*result = -ENOSYS;
	else
		return false;
	return true;
}

/* Runs any slot, which has been fetched into b->head and the registers. */
static noinline long run_slot(struct batch *b, const struct batch_slot __user *slot)
{
	long result = b->head.argc > BATCH_MAX_ARGS ? forward(b, slot) : 0;
	short nr = b->head.nr;

	if (result)
		return result;
	if (nr < 0)
		return nr == BATCH_WDCPY ? copy_word(b->regs) : -ENOSYS;
	if (!subcall_watchers(current) && dispatch_plain(b->regs, nr, &result))
		return result;
	return subcall_run(b->caller, nr);
}

/* The number of slots to skip after RESULT; negative if the batch ends. */
static __always_inline long jump(const struct batch_head *head, long result)
{
	if (!result)
		return head->jump_zero;
	return IS_ERR_VALUE(result) ? head->jump_fail : head->jump_pos;
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

void subcall_do_pending_work(struct pt_regs *regs)
{
	if (read_thread_flags() & SUBCALL_TIF_NEED_RESCHED)
		schedule();
	/* schedule() itself may ask for this. */
	request_rseq_update();
	if (read_thread_flags() & _TIF_NOTIFY_RESUME)
		resume_user_mode_work(regs);
	/* The exit to user space does the rest, and with this flag also restarts the call. */
	if (read_thread_flags() & SUBCALL_TIF_WORK & ~SUBCALL_TIF_NEED_RESCHED)
		set_thread_flag(TIF_NOTIFY_SIGNAL);
}

/* Leaves the batch with ANSWER at slot I, which STATE describes. */
static noinline long leave(struct batch *b, unsigned long i, unsigned long state, long answer)
{
	struct batch_args __user *args = b->args;
	unsigned long last = b->answer;
	unsigned long arg[BATCH_MAX_ARGS];
	int k;

	syscall_get_arguments(current, b->regs, arg);
	if (!user_access_begin(args, sizeof(*args)))
		goto lost;
	unsafe_put_user(i, &args->position, fault);
	unsafe_put_user(last, &args->last, fault);
	unsafe_put_user(state, &args->state, fault);
	unsafe_put_user(b->result, &args->result, fault);
	unsafe_put_user(b->head.first_word, (u64 __user *)&args->slot.nr, fault);
	unsafe_put_user(b->head.second_word, (u64 __user *)&args->slot.argc, fault);
	for (k = 0; k < BATCH_MAX_ARGS; k++)
		unsafe_put_user(arg[k], &args->slot.arg[k], fault);
	user_access_end();
	return answer;
fault:
	user_access_end();
lost:
	/* Without its state, a restarted batch would run again from the start. */
	force_sig(SIGSEGV);
	return -EFAULT;
}

/* Whether a signal may restart this batch.  Another outer call decides for the batches it makes. */
static bool may_restart(const struct batch *b)
{
	return !b->caller->is_batch || outer_call_may_restart(b->caller);
}

/* Leaves before slot I has begun. */
static long leave_before(struct batch *b, unsigned long i)
{
	return leave(b, i, BATCH_BEGIN, may_restart(b) ? -ERESTARTNOINTR : -EOPNOTSUPP);
}

/* Leaves in the middle of the call of slot I, interrupted as b->result says, in STATE. */
static long leave_within(struct batch *b, unsigned long i, unsigned long state)
{
	/* restart_syscall() itself may be interrupted; the call still continues in it. */
	if (b->result == -ERESTART_RESTARTBLOCK)
		state = BATCH_RESTART;
	if (may_restart(b))
		return leave(b, i, state, outer_call_result(b->result));
	/* The call itself continues, not the batch.  User space goes on after it. */
	b->caller->answers = leave(b, i, BATCH_ANSWER, b->result) == b->result;
	return b->caller->answers ? b->result : -EFAULT;
}

/*
 * What comes of the call of SLOT, whose result is a restart code, and which was continued from
 * STATE.  True: the batch stops in the middle of it.  False: that is indeed the slot's result.
 */
static bool settle(struct batch *b, const struct batch_slot __user *slot, unsigned long state)
{
	unsigned long i = index_of(b, slot);

	if (state == BATCH_BEGIN)
		state = BATCH_CALL;
	if (b->caller->refused)
		b->answer = leave(b, i, state, -EOPNOTSUPP);
	else if (subcall_is_interrupted(b->result))
		b->answer = leave_within(b, i, state);
	else
		return false;
	return true;
}

/*
 * Steps from SLOT, whose result is in *B, to the next one, with all checks and pending work.
 * Returns that slot, which has been fetched; NULL if the batch stops.  Unless SETTLED, the call
 * may have been interrupted; STATE says how it was continued.
 */
static noinline const struct batch_slot __user *step(struct batch *b,
						     const struct batch_slot __user *slot,
						     bool settled, unsigned long state)
{
	long skip;
	int error;

	if (!settled && subcall_is_restart(b->result) && settle(b, slot, state))
		return NULL;
	/* Handlers can run during a page fault in user space only. */
	pagefault_disable();
	error = put_user(b->result, ret_of(b, slot));
	pagefault_enable();
	if (error) {
		b->answer = leave(b, index_of(b, slot), BATCH_STORE, -EOPNOTSUPP);
		return NULL;
	}
	b->answer = index_of(b, slot);
	skip = jump(&b->head, b->result);
	slot += 1 + skip;
	if (skip < 0 || slot > b->last)
		return NULL;
	/* Before the fetch: handlers and other threads may map that slot, or change it. */
	subcall_do_pending_work(b->regs);
	if (signal_pending(current))
		b->answer = leave_before(b, index_of(b, slot));
	else if (!batch_fetch(&b->head, b->regs, slot))
		return slot;
	return NULL;
}

/* Steps from *SLOT and its *RET, over SKIP slots, if that takes no care. */
static __always_inline bool step_fast(struct batch *b, struct pt_regs *regs,
				      const struct batch_slot __user **slot,
				      s64 __user **ret, long result, unsigned long skip)
{
	if (unlikely(*slot + skip >= b->last ||
		     batch_store_and_fetch(*ret, result, &b->head, regs, *slot + 1 + skip)))
		return false;
	*slot += 1 + skip;
	*ret += 1 + skip;
	return true;
}

/* Runs slots from SLOT, which has been fetched, until the batch stops. */
static __always_inline void run_slots(struct batch *b, const struct batch_slot __user *slot)
{
	struct task_struct *const task = current;
	struct pt_regs *const regs = b->regs;
	s64 __user *ret = ret_of(b, slot);

	for (;;) {
		unsigned long nr = b->head.first_word & U16_MAX;
		bool settled = false;
		long result;

		if (unlikely(b->head.argc > BATCH_MAX_ARGS || subcall_watchers(task) ||
			     !dispatch_plain(regs, nr, &result))) {
			result = run_slot(b, slot);
			if (subcall_is_restart(result))
				goto step;
		}
		/* RCU Tasks waits for each task to sleep or to report this; no slot need sleep. */
		if (unlikely(subcall_delays_rcu_tasks(task)))
			rcu_tasks_classic_qs(task, false);
		/* Without pending work, no signal has interrupted the call. */
		settled = !subcall_has_work(task);
		if (likely(settled && !batch_has_jumps(&b->head))) {
			if (likely(step_fast(b, regs, &slot, &ret, result, 0)))
				continue;
		} else if (settled) {
			long skip = jump(&b->head, result);

			if (skip >= 0 && step_fast(b, regs, &slot, &ret, result, skip))
				continue;
		}
step:
		b->result = result;
		slot = step(b, slot, settled, 0);
		if (!slot)
			return;
		ret = ret_of(b, slot);
	}
}

/* Continues the call of slot I, which is in the arguments, in STATE.  Returns the next slot. */
static noinline const struct batch_slot __user *continue_slot(struct batch *b, unsigned long i,
							      unsigned long state)
{
	const struct batch_slot __user *slot = b->calls + i;

	b->answer = -EFAULT;
	if (batch_fetch(&b->head, b->regs, &b->args->slot))
		return NULL;
	b->answer = 0;
	b->result = state == BATCH_RESTART ?
			    subcall(b->regs, __NR_restart_syscall, &b->caller->refused) :
			    run_slot(b, slot);
	return step(b, slot, false, state);
}

/* Where the batch continues or begins. */
struct start {
	unsigned long position, last, state;
};

/* Reads the arguments, each once and all in one user access. */
static __always_inline int read_args(struct batch *b, struct start *start)
{
	struct batch_args __user *args = b->args;
	unsigned long flags;

	if (!user_access_begin(args, sizeof(*args)))
		return -EFAULT;
	unsafe_get_user(b->rets, (s64 __user * __user *)&args->rets, fault);
	unsafe_get_user(b->calls, (const struct batch_slot __user * __user *)&args->calls, fault);
	unsafe_get_user(b->ncall, &args->ncall, fault);
	unsafe_get_user(flags, &args->flags, fault);
	unsafe_get_user(start->position, &args->position, fault);
	unsafe_get_user(start->last, &args->last, fault);
	unsafe_get_user(start->state, &args->state, fault);
	user_access_end();
	return unlikely(flags || start->state > BATCH_RESTART) ? -EINVAL : 0;
fault:
	user_access_end();
	return -EFAULT;
}

static long run_batch(struct batch *b, const struct start *start)
{
	unsigned long i = start->position, ncall = b->ncall;
	const struct batch_slot __user *slot = b->calls + i;

	if (ncall > BATCH_MAX_SLOTS)
		return -EINVAL;
	if (!ncall)
		return 0;
	if (!b->calls || (unsigned long)b->calls >= -ncall * sizeof(*b->calls))
		return -EFAULT;
	b->answer = -EFAULT;
	if (unlikely(i)) {
		if (i >= ncall || start->last >= i)
			return -EINVAL;
		b->answer = start->last;
	}
	if (!access_ok(slot, sizeof(*slot)))
		return b->answer;
	/* User space has to do all of it.  The state is still right. */
	if (unlikely(subcall_needs_real_call(current) ||
		     !access_ok(b->calls, ncall * sizeof(*b->calls)) ||
		     !access_ok(b->rets, ncall * sizeof(*b->rets))))
		return -EOPNOTSUPP;
	b->last = b->calls + ncall - 1;
	if (unlikely(start->state != BATCH_BEGIN)) {
		slot = continue_slot(b, i, start->state);
		if (!slot)
			return b->answer;
	} else if (batch_fetch(&b->head, b->regs, slot)) {
		return b->answer;
	}
	b->answer = 0;
	run_slots(b, slot);
	return b->answer;
}

#define VERSION_AND_FEATURES \
	(BATCH_VERSION | (BATCH_FEATURE_WDCPY | BATCH_FEATURE_FORWARD) << BATCH_FEATURE_SHIFT)

/* Whether a caller with another structure of SIZE bytes at ARGS uses only what is known here. */
static noinline long check_size(struct batch_args __user *args, size_t size)
{
	int known;

	if (size < sizeof(*args))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	known = check_zeroed_user(args + 1, size - sizeof(*args));
	return known > 0 ? 0 : known ?: -E2BIG;
}

long batch_run(struct subcall_caller *caller, struct batch_args __user *args, size_t size)
{
	struct batch b __uninitialized; /* clearing it would cost as much as a slot's work */
	struct start start;
	long error;

	if (unlikely(size != sizeof(*args))) {
		if (!args && !size)
			return VERSION_AND_FEATURES;
		error = check_size(args, size);
		if (error)
			return error;
	}
	b.caller = caller;
	b.regs = caller->regs;
	b.args = args;
	error = read_args(&b, &start);
	return unlikely(error) ? error : run_batch(&b, &start);
}

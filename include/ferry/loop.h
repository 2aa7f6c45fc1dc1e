/* SPDX-License-Identifier: MIT */
/*
 * The loop: runs a batch with one system call per slot, on any Linux.  It is the
 * reference for the meaning of a batch; every other engine must give the same
 * results, memory and return value.  Header-only, C and C++, no state: any
 * thread may run it at any time, and so may a signal handler.
 */
#ifndef FERRY_LOOP_H
#define FERRY_LOOP_H

#include <errno.h>
#include <string.h>

#include <ferry/rawcall.h>
#include <linux/ferry.h>
#include <linux/ferry_blocked.h>
#include <linux/types.h>

#define FERRY_LIKELY(x) __builtin_expect(!!(x), 1)
#define FERRY_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Which 16 bits of a slot's first word hold nr and the jumps. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FERRY_HEAD_SHIFT(field) (16 * (field))
#else
#define FERRY_HEAD_SHIFT(field) (48 - 16 * (field))
#endif
#define FERRY_HEAD_NR 0
#define FERRY_HEAD_FAIL 1
#define FERRY_HEAD_ZERO 2
#define FERRY_HEAD_POS 3

static inline unsigned short ferry_head_field(unsigned long head, int field)
{
	return (unsigned short)(head >> FERRY_HEAD_SHIFT(field));
}

/** Non-zero when any of the three jumps is. */
static inline unsigned long ferry_head_jumps(unsigned long head)
{
	return head & ~(0xffffUL << FERRY_HEAD_SHIFT(FERRY_HEAD_NR));
}

/** 1 when no batch makes call NR, 0 .. FERRY_BLOCKED_LIMIT - 1 (see <linux/ferry_blocked.h>). */
static inline int ferry_is_blocked(unsigned int nr)
{
	static const unsigned long map[] = FERRY_BLOCKED_WORDS;

	return map[nr / 64] >> (nr % 64) & 1;
}

/** 1 when RESULT is a failure, -4095 .. -1. */
static inline int ferry_failed(long result)
{
	return (unsigned long)result >= -(unsigned long)FERRY_MAX_ERRNO;
}

/*
 * The arguments of SLOT, whose result will be *RET, with operands forwarded from
 * earlier results.  Returns 0, or the result of a slot that cannot run.
 */
static inline long ferry_forward_args(__s64 args[], const struct ferry_slot *slot,
				      const long rets[], const long *ret)
{
	int k;

	if (!(slot->argc & FERRY_ARGC_FORWARD) ||
	    (slot->argc & ~FERRY_ARGC_FORWARD) > FERRY_MAX_ARGS)
		return -ENOSYS;
	if (slot->reserved)
		return -EINVAL;
	for (k = 0; k < FERRY_MAX_ARGS; k++) {
		if (slot->from[k] > ret - rets)
			return -EINVAL;
		args[k] = slot->from[k] ? ret[-slot->from[k]] : slot->arg[k];
	}
	return 0;
}

/** The call of one slot, its arguments resolved. */
static inline long ferry_loop_call(unsigned short nr, long a, long b, long c, long d, long e,
				   long f)
{
	long word;

	if (FERRY_LIKELY(nr < FERRY_BLOCKED_LIMIT)) {
		if (FERRY_UNLIKELY(ferry_is_blocked(nr)))
			return -ENOSYS;
		return ferry_rawcall(nr, a, b, c, d, e, f);
	}
	if ((short)nr >= 0)
		return ferry_rawcall(nr, a, b, c, d, e, f);
	if ((short)nr != FERRY_NR_WDCPY)
		return -ENOSYS;
	if (!a || !b)
		return -EFAULT; /* other bad pointers raise SIGSEGV here */
	memcpy(&word, (const void *)b, sizeof(word));
	memcpy((void *)a, &word, sizeof(word));
	return 0;
}

/** The result of SLOT, whose first word the caller has fetched as HEAD. */
static inline long ferry_loop_slot(const struct ferry_slot *slot, unsigned long head,
				   const long rets[], const long *ret)
{
	unsigned short nr = ferry_head_field(head, FERRY_HEAD_NR);
	const __s64 *args = slot->arg;
	__s64 forwarded[FERRY_MAX_ARGS];
	long bad;

	if (FERRY_LIKELY(slot->argc <= FERRY_MAX_ARGS))
		return ferry_loop_call(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
	bad = ferry_forward_args(forwarded, slot, rets, ret);
	if (bad)
		return bad;
	args = forwarded;
	return ferry_loop_call(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
}

/** The jump that RESULT takes: slots to skip, negative to end the batch. */
static inline short ferry_jump(unsigned long head, long result)
{
	if (result == 0)
		return (short)ferry_head_field(head, FERRY_HEAD_ZERO);
	if (ferry_failed(result))
		return (short)ferry_head_field(head, FERRY_HEAD_FAIL);
	return (short)ferry_head_field(head, FERRY_HEAD_POS);
}

#define FERRY_PAGE 4096UL /* the smallest unit that the kernel maps */

/*
 * Whether the word at ADDR can be read.  The kernel knows: rt_sigprocmask copies its set in
 * before it refuses an impossible `how` (kernel/signal.c).  The page of the running frame can
 * be read, so small batches on the stack need no crossing for this.
 */
static inline int ferry_readable(unsigned long addr)
{
	unsigned long frame = (unsigned long)__builtin_frame_address(0);
	const long no_such_how = -1;

	if ((addr & -FERRY_PAGE) == (frame & -FERRY_PAGE))
		return 1;
	return ferry_rawcall(__NR_rt_sigprocmask, no_such_how, (long)addr, 0, sizeof(long), 0, 0) !=
	       -EFAULT;
}

/* The end of the slots that can be read if SLOT can: the slots that end on the page where it ends.
 */
static inline const struct ferry_slot *
ferry_page_end(const struct ferry_slot calls[], const struct ferry_slot *slot, unsigned long ncall)
{
	unsigned long last_word = (unsigned long)(slot + 1) - sizeof(long);
	unsigned long end = (last_word & -FERRY_PAGE) + FERRY_PAGE - (unsigned long)calls;

	end /= sizeof(*slot);
	return calls + (end < ncall ? end : ncall);
}

/*
 * The end of the slots that can be read when the batch enters calls[] at SLOT:
 * SLOT itself where it cannot be read or is past the end.
 */
static inline const struct ferry_slot *ferry_readable_end(const struct ferry_slot calls[],
							  const struct ferry_slot *slot,
							  unsigned long ncall)
{
	unsigned long first_word = (unsigned long)slot;
	unsigned long last_word = first_word + sizeof(*slot) - sizeof(long);

	if (slot >= calls + ncall || last_word < first_word || !ferry_readable(first_word))
		return slot;
	if ((first_word & -FERRY_PAGE) != (last_word & -FERRY_PAGE) && !ferry_readable(last_word))
		return slot;
	return ferry_page_end(calls, slot, ncall);
}

/** Why batch() refuses its arguments (-errno), its answer to a query, or 0 to run. */
static inline long ferry_batch_prepare(const void *rets, const void *calls, unsigned long ncall,
				       long flags, long size)
{
	if (flags == FERRY_BATCH_QUERY && !rets && !calls && !ncall && !size)
		return FERRY_ABI_VERSION | (FERRY_FEATURE_WDCPY | FERRY_FEATURE_FORWARD)
						   << FERRY_FEATURE_SHIFT;
	if (flags || (size && size != (long)sizeof(struct ferry_slot)))
		return -EINVAL;
	if (ncall > FERRY_MAX_SLOTS)
		return -EINVAL;
	if (ncall && (!calls || (unsigned long)calls >= -ncall * sizeof(struct ferry_slot)))
		return -EFAULT; /* no array lies there, for it would wrap around */
	return 0;
}

/* Where a running batch is. */
struct ferry_cursor {
	const struct ferry_slot *slot;	   /* the next one, NULL once the batch has ended */
	const struct ferry_slot *readable; /* slots before this one are known to be readable */
	const struct ferry_slot *target;   /* where the latest jump led */
	long from;			   /* the slot that made it */
};

/** At slot START < ncall of a batch. */
static inline struct ferry_cursor ferry_cursor_at(unsigned long start,
						  const struct ferry_slot calls[])
{
	const struct ferry_slot *slot = calls + start;
	struct ferry_cursor cursor = { slot, slot, slot, start ? (long)start - 1 : -EFAULT };

	return cursor;
}

/** The result of batch() when no more slots run: the last one that did. */
static inline long ferry_cursor_last(const struct ferry_cursor *cursor,
				     const struct ferry_slot calls[])
{
	if (cursor->slot == cursor->target)
		return cursor->from;
	return cursor->slot - calls - 1;
}

/** Takes the jump of the slot under CURSOR, whose first word is HEAD, after RESULT. */
static inline void ferry_cursor_jump(struct ferry_cursor *cursor, const struct ferry_slot calls[],
				     unsigned long head, long result)
{
	short skip = ferry_jump(head, result);

	cursor->from = cursor->slot - calls;
	cursor->slot = skip < 0 ? NULL : cursor->slot + 1 + skip;
	cursor->target = cursor->slot;
}

/**
 * Runs slots by one system call each, from CURSOR on until it leaves the slots before
 * STOP or the batch ends.  A page of calls[] is tested when the batch enters it, so that
 * an array which is not mapped ends the batch instead of the process.
 */
static inline void ferry_loop_until(struct ferry_cursor *cursor, const struct ferry_slot *stop,
				    long rets[], const struct ferry_slot calls[],
				    unsigned long ncall)
{
	const struct ferry_slot *slot = cursor->slot;
	const struct ferry_slot *limit = cursor->readable < stop ? cursor->readable : stop;
	long *ret = rets + (slot - calls);
	unsigned long head;
	long result;

	for (;;) {
		if (FERRY_UNLIKELY(slot >= limit)) {
			cursor->slot = slot;
			if (slot >= stop)
				return;
			cursor->readable = ferry_readable_end(calls, slot, ncall);
			if (slot >= cursor->readable)
				return;
			limit = cursor->readable < stop ? cursor->readable : stop;
		}
		/* Fetched once: a slot may overwrite itself, its jumps are still these. */
		memcpy(&head, slot, sizeof(head));
		result = ferry_loop_slot(slot, head, rets, ret);
		*ret = result;
		if (FERRY_LIKELY(!ferry_head_jumps(head))) {
			slot++;
			ret++;
			continue;
		}
		cursor->slot = slot;
		ferry_cursor_jump(cursor, calls, head, result);
		if (!cursor->slot)
			return;
		slot = cursor->slot;
		ret = rets + (slot - calls);
	}
}

/**
 * Runs the batch calls[0 .. ncall - 1], which ferry_batch_prepare() allows, by one system
 * call per slot.  Stores each slot's raw result in rets[].
 *
 * Returns the index of the last slot that ran, -EFAULT if slot 0 cannot be read, and 0 for
 * an empty batch.
 */
static inline long ferry_loop(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	struct ferry_cursor cursor = ferry_cursor_at(0, calls);

	if (!ncall)
		return 0;
	ferry_loop_until(&cursor, calls + ncall, rets, calls, ncall);
	return ferry_cursor_last(&cursor, calls);
}

/* Completes the call of the slot under CURSOR, which a signal interrupted, as the kernel would. */
static inline void ferry_restart_slot(struct ferry_cursor *cursor, long rets[],
				      const struct ferry_slot calls[], int eintr)
{
	long result = eintr ? -EINTR : ferry_rawcall(__NR_restart_syscall, 0, 0, 0, 0, 0, 0);
	unsigned long head;

	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the kernel has read the slot */
	memcpy(&head, cursor->slot, sizeof(head));
	rets[cursor->slot - calls] = result;
	ferry_cursor_jump(cursor, calls, head, result);
}

/** Whether a kernel left the rest of the batch to user space: ANSWER holds the position. */
static inline int ferry_is_partial(long answer)
{
	return answer >= FERRY_BATCH_PARTIAL;
}

/** Runs the rest of a batch from POSITION, which the kernel answered.  Returns as ferry_loop(). */
static inline long ferry_loop_resume(long position, long rets[], const struct ferry_slot calls[],
				     unsigned long ncall)
{
	unsigned long start = FERRY_RESUME_INDEX((unsigned long)position);
	struct ferry_cursor cursor = ferry_cursor_at(start, calls);

	if (start)
		cursor.from -= FERRY_RESUME_SKIPPED(position);
	/* The kernel has read that slot, so it can be read. */
	cursor.readable = ferry_page_end(calls, cursor.slot, ncall);
	if (position & (FERRY_BATCH_RESTART | FERRY_BATCH_EINTR))
		ferry_restart_slot(&cursor, rets, calls, !!(position & FERRY_BATCH_EINTR));
	if (cursor.slot)
		ferry_loop_until(&cursor, calls + ncall, rets, calls, ncall);
	return ferry_cursor_last(&cursor, calls);
}

#endif /* FERRY_LOOP_H */

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

#include <ferry/blocked.h>
#include <ferry/rawcall.h>
#include <linux/ferry.h>
#include <linux/subcall.h>
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

/** Non-zero when any of the three jumps is not 0. */
static inline unsigned long ferry_head_jumps(unsigned long head)
{
	return head & ~(0xffffUL << FERRY_HEAD_SHIFT(FERRY_HEAD_NR));
}

/* clang-format off */
/* The table as a bitmap: word nr / 64, bit nr % 64. */
#define FERRY_BLOCKED_BIT(word, nr, name, reason) \
	| ((nr) >= 0 && (nr) / 64 == (word) ? 1UL << ((nr) & 63) : 0UL)
#define FERRY_BLOCKED_WORD(word) (0UL SUBCALL_BLOCKED_TABLE(FERRY_BLOCKED_BIT, word))
#define FERRY_BLOCKED_WORDS                                                         \
	{ FERRY_BLOCKED_WORD(0), FERRY_BLOCKED_WORD(1), FERRY_BLOCKED_WORD(2),      \
	  FERRY_BLOCKED_WORD(3), FERRY_BLOCKED_WORD(4), FERRY_BLOCKED_WORD(5),      \
	  FERRY_BLOCKED_WORD(6), FERRY_BLOCKED_WORD(7) }
/* clang-format on */

/** 1 when no batch makes call NR, which is below SUBCALL_NR_LIMIT; <ferry/blocked.h>. */
static inline int ferry_is_blocked(unsigned int nr)
{
	static const unsigned long map[] = FERRY_BLOCKED_WORDS;

	return map[nr / 64] >> (nr % 64) & 1;
}

/** 1 when RESULT is a failure, -4095 .. -1. */
static inline int ferry_failed(long result)
{
	return (unsigned long)result >= -(unsigned long)BATCH_MAX_ERRNO;
}

/*
 * Stores in ARGS the arguments of SLOT, some of them forwarded from earlier results.  The
 * result of SLOT will be *RET.  Returns 0, or the result of a slot that cannot run.
 */
static inline long ferry_forward_args(__s64 args[], const struct batch_slot *slot,
				      const long rets[], const long *ret)
{
	int k;

	if (!(slot->argc & BATCH_ARGC_FORWARD) ||
	    (slot->argc & ~BATCH_ARGC_FORWARD) > BATCH_MAX_ARGS)
		return -ENOSYS;
	if (slot->reserved)
		return -EINVAL;
	for (k = 0; k < BATCH_MAX_ARGS; k++) {
		if (slot->from[k] > ret - rets)
			return -EINVAL;
		args[k] = slot->from[k] ? ret[-slot->from[k]] : slot->arg[k];
	}
	return 0;
}

/** Makes the call of one slot, whose arguments are final. */
static inline long ferry_loop_call(unsigned short nr, long a, long b, long c, long d, long e,
				   long f)
{
	long word;

	if (FERRY_LIKELY(nr < SUBCALL_NR_LIMIT)) {
		if (FERRY_UNLIKELY(ferry_is_blocked(nr)))
			return -ENOSYS;
		return ferry_rawcall(nr, a, b, c, d, e, f);
	}
	if ((short)nr >= 0)
		return ferry_rawcall(nr, a, b, c, d, e, f);
	if ((short)nr != BATCH_WDCPY)
		return -ENOSYS;
	if (!a || !b)
		return -EFAULT; /* other bad pointers raise SIGSEGV here */
	memcpy(&word, (const void *)b, sizeof(word));
	memcpy((void *)a, &word, sizeof(word));
	return 0;
}

/** Runs SLOT, whose first word the caller has fetched as HEAD, and returns its result. */
static inline long ferry_loop_slot(const struct batch_slot *slot, unsigned long head,
				   const long rets[], const long *ret)
{
	unsigned short nr = ferry_head_field(head, FERRY_HEAD_NR);
	const __s64 *args = slot->arg;
	__s64 forwarded[BATCH_MAX_ARGS];
	long bad;

	if (FERRY_LIKELY(slot->argc <= BATCH_MAX_ARGS))
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
 * Whether the word at ADDR can be read.  This asks the kernel: rt_sigprocmask copies its set
 * in before it refuses an impossible `how` (kernel/signal.c).  The page of the running stack
 * frame can be read, so small batches on the stack need no crossing for this.
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

/* If SLOT can be read, so can all slots that end on the page where it ends: the end of these. */
static inline const struct batch_slot *
ferry_page_end(const struct batch_slot calls[], const struct batch_slot *slot, unsigned long ncall)
{
	unsigned long last_word = (unsigned long)(slot + 1) - sizeof(long);
	unsigned long end = (last_word & -FERRY_PAGE) + FERRY_PAGE - (unsigned long)calls;

	end /= sizeof(*slot);
	return calls + (end < ncall ? end : ncall);
}

/*
 * The end of the slots from SLOT on that can be read.  It is SLOT itself if that cannot be
 * read or is past the end of calls[].
 */
static inline const struct batch_slot *ferry_readable_end(const struct batch_slot calls[],
							  const struct batch_slot *slot,
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

/** Checks the arguments of batch(): -errno, the answer to a query, or 0 for a batch to run. */
static inline long ferry_batch_prepare(const void *rets, const void *calls, unsigned long ncall,
				       long flags, long size)
{
	if (flags == FERRY_BATCH_QUERY && !rets && !calls && !ncall && !size)
		return BATCH_VERSION | (BATCH_FEATURE_WDCPY | BATCH_FEATURE_FORWARD)
					       << BATCH_FEATURE_SHIFT;
	if (flags || (size && size != (long)sizeof(struct batch_slot)))
		return -EINVAL;
	if (ncall > BATCH_MAX_SLOTS)
		return -EINVAL;
	if (ncall && (!calls || (unsigned long)calls >= -ncall * sizeof(struct batch_slot)))
		return -EFAULT; /* the array would wrap around the end of the address space */
	return 0;
}

/* The position of a running batch. */
struct ferry_cursor {
	const struct batch_slot *slot;	   /* the next slot; NULL when the batch has ended */
	const struct batch_slot *readable; /* slots before this one are known to be readable */
	const struct batch_slot *target;   /* where the latest jump led */
	long from;			   /* the index of the slot that jumped */
};

/** The position at slot START < ncall of a batch. */
static inline struct ferry_cursor ferry_cursor_at(unsigned long start,
						  const struct batch_slot calls[])
{
	const struct batch_slot *slot = calls + start;
	struct ferry_cursor cursor = { slot, slot, slot, start ? (long)start - 1 : -EFAULT };

	return cursor;
}

/** The result of batch() when no more slots run: the index of the last slot that ran. */
static inline long ferry_cursor_last(const struct ferry_cursor *cursor,
				     const struct batch_slot calls[])
{
	if (cursor->slot == cursor->target)
		return cursor->from;
	return cursor->slot - calls - 1;
}

/** Takes the jump that RESULT selects; HEAD is the first word of the slot at CURSOR. */
static inline void ferry_cursor_jump(struct ferry_cursor *cursor, const struct batch_slot calls[],
				     unsigned long head, long result)
{
	short skip = ferry_jump(head, result);

	cursor->from = cursor->slot - calls;
	cursor->slot = skip < 0 ? NULL : cursor->slot + 1 + skip;
	cursor->target = cursor->slot;
}

/**
 * Runs slots by one system call each, from CURSOR on, until the next slot is STOP or a later
 * one, or the batch ends.  Tests a page of calls[] when the batch enters it, so that an array
 * that is not mapped ends the batch and not the process.
 */
static inline void ferry_loop_until(struct ferry_cursor *cursor, const struct batch_slot *stop,
				    long rets[], const struct batch_slot calls[],
				    unsigned long ncall)
{
	const struct batch_slot *slot = cursor->slot;
	const struct batch_slot *limit = cursor->readable < stop ? cursor->readable : stop;
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
		/* Fetched once: a slot may overwrite itself, and takes its old jumps. */
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
 * Runs the batch calls[0 .. ncall - 1] by one system call per slot; ferry_batch_prepare() has
 * checked the arguments.  Stores each slot's raw result in rets[].
 *
 * Returns the index of the last slot that ran, -EFAULT if slot 0 cannot be read, and 0 for
 * an empty batch.
 */
static inline long ferry_loop(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	struct ferry_cursor cursor = ferry_cursor_at(0, calls);

	if (!ncall)
		return 0;
	ferry_loop_until(&cursor, calls + ncall, rets, calls, ncall);
	return ferry_cursor_last(&cursor, calls);
}

/* The position at which the kernel left the batch of ARGS. */
static inline struct ferry_cursor ferry_cursor_left(const struct batch_args *args)
{
	const struct batch_slot *calls = (const struct batch_slot *)args->calls;
	struct ferry_cursor cursor = ferry_cursor_at(args->position, calls);
	unsigned long fetched = args->state == BATCH_BEGIN ? args->last : args->position;

	if (!args->position && args->state == BATCH_BEGIN)
		return cursor;
	cursor.from = (long)args->last;
	/* Like the loop, this tests no page twice.  A handler may change it meanwhile. */
	cursor.readable = ferry_page_end(calls, calls + fetched, args->ncall);
	return cursor;
}

/* Ends the slot at CURSOR: the kernel left in the middle of it, with ANSWER. */
static inline void ferry_end_slot(struct ferry_cursor *cursor, const struct batch_args *args,
				  long answer)
{
	long *rets = (long *)args->rets;
	long *ret = rets + args->position;
	unsigned long head;
	long result = answer;

	memcpy(&head, &args->slot, sizeof(head));
	if (args->state == BATCH_STORE)
		result = (long)args->result;
	else if (args->state == BATCH_RESTART && answer != -EINTR)
		result = ferry_rawcall(__NR_restart_syscall, 0, 0, 0, 0, 0, 0);
	else if (args->state == BATCH_CALL && answer != -EINTR)
		result = ferry_loop_slot(&args->slot, head, rets, ret);
	*ret = result;
	ferry_cursor_jump(cursor, (const struct batch_slot *)args->calls, head, result);
}

/**
 * User space's part of a batch that the kernel left with *ANSWER.  Returns 1 if batch() has to
 * be called again with ARGS.  Otherwise the batch is over, and *ANSWER is as ferry_loop() returns.
 */
static inline int ferry_batch_left(struct batch_args *args, long *answer)
{
	const struct batch_slot *calls = (const struct batch_slot *)args->calls;
	struct ferry_cursor cursor = ferry_cursor_left(args);
	int again = args->state == BATCH_STORE;

	if (args->state != BATCH_BEGIN) {
		/* Otherwise a filter may refuse or kill the next batch(): the loop goes on. */
		again |= *answer == -EINTR && args->state != BATCH_ANSWER;
		ferry_end_slot(&cursor, args, *answer);
	}
	if (cursor.slot && cursor.slot < calls + args->ncall) {
		if (again) {
			args->position = (unsigned long)(cursor.slot - calls);
			args->last = (unsigned long)cursor.from;
			args->state = BATCH_BEGIN;
			return 1;
		}
		ferry_loop_until(&cursor, calls + args->ncall, (long *)args->rets, calls,
				 args->ncall);
	}
	*answer = ferry_cursor_last(&cursor, calls);
	return 0;
}

#endif /* FERRY_LOOP_H */

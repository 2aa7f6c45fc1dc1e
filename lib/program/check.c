// SPDX-License-Identifier: MIT
/*
 * The checker: finds what is wrong with a batch without running it.
 *
 * One pass in the order of the slots, which is the order in which any batch runs.
 * For each slot the checker knows which of the 255 slots before it ran on some path that leads
 * to it, and which ran on every path.  It passes this on to the slots that can come next.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <ferry.h>
#include <ferry/loop.h>

/* ---- sets of earlier slots ---- */

#define BACK_MAX UCHAR_MAX /* how far from[] reaches */
#define WORD_BITS 64
#define WORDS (BACK_MAX / WORD_BITS + 1)

/* Bit d - 1 is the slot d before the one that the set belongs to. */
struct earlier {
	uint64_t word[WORDS];
};

static bool has(const struct earlier *set, unsigned int back)
{
	return set->word[(back - 1) / WORD_BITS] >> (back - 1) % WORD_BITS & 1;
}

/* SET and the slot that it belongs to, as seen from AHEAD > 0 slots further on. */
static struct earlier seen_from(const struct earlier *set, unsigned int ahead)
{
	struct earlier moved = { { 0 } };
	unsigned int words = ahead / WORD_BITS;
	unsigned int bits = ahead % WORD_BITS;
	unsigned int i;

	if (ahead > BACK_MAX)
		return moved;
	for (i = words; i < WORDS; i++) {
		moved.word[i] = set->word[i - words] << bits;
		if (bits && i > words)
			moved.word[i] |= set->word[i - words - 1] >> (WORD_BITS - bits);
	}
	moved.word[(ahead - 1) / WORD_BITS] |= UINT64_C(1) << (ahead - 1) % WORD_BITS;
	return moved;
}

/* ---- the state of a check ---- */

/* What is known about a slot before it is checked. */
struct place {
	bool reached;
	struct earlier some;  /* ran on some path that leads here */
	struct earlier every; /* ran on every such path */
};

/* A jump leads at most this many slots ahead. */
#define FARTHEST (SHRT_MAX + 1UL)

#define SLOT_WORDS (sizeof(struct batch_slot) / sizeof(long))
_Static_assert(SLOT_WORDS == CHAR_BIT, "struct check keeps one bit per word of a slot");

/* The words of a slot: nr and the jumps, argc and from[], the arguments. */
#define WORD_HEAD 0
#define WORD_ARGC 1
#define WORD_ARG(k) (2 + (k))

struct check {
	const struct batch_slot *calls;
	unsigned long ncall;
	struct ferry_problem *problems;
	size_t room;
	size_t found;

	/* Slot i is places[i % window]: only slots that a jump can lead to are kept. */
	struct place *places;
	unsigned long window;

	/* Bit w of written[i]: an earlier word copy may write word w of slot i. */
	unsigned char *written;

	/* A slot with unknown jumps ran: any later slot may run, after any path. */
	bool lost;
};

static struct place *place_of(const struct check *check, unsigned long i)
{
	return &check->places[i % check->window];
}

static bool is_written(const struct check *check, unsigned long i, unsigned int word)
{
	return check->written[i] >> word & 1;
}

static void report(struct check *check, unsigned long slot, enum ferry_severity severity,
		   const char *reason)
{
	if (check->found < check->room)
		check->problems[check->found] = (struct ferry_problem){ slot, severity, reason };
	check->found++;
}

/* ---- the table of blocked calls ---- */

struct blocked {
	long nr;
	const char *name;
	const char *reason;
};

#define ROW(ctx, nr_, name_, reason_) { .nr = (nr_), .name = (name_), .reason = (reason_) },
static const struct blocked blocked_calls[] = { SUBCALL_BLOCKED_TABLE(ROW, ) };

static const struct blocked *find_blocked(long nr)
{
	const struct blocked *row = blocked_calls;

	if (nr < 0 || nr >= SUBCALL_NR_LIMIT || !ferry_is_blocked((unsigned int)nr))
		return NULL;
	while (row->nr != nr)
		row++;
	return row;
}

const char *ferry_blocked_reason(long nr)
{
	const struct blocked *row = find_blocked(nr);

	return row ? row->reason : NULL;
}

const char *ferry_blocked_name(long nr)
{
	const struct blocked *row = find_blocked(nr);

	return row ? row->name : NULL;
}

/* ---- single slots: each function returns the results that the slot can have ---- */

static unsigned int argc_of(const struct batch_slot *slot)
{
	return slot->argc & ~BATCH_ARGC_FORWARD;
}

static bool forwards(const struct batch_slot *slot)
{
	return slot->argc & BATCH_ARGC_FORWARD;
}

/* Whether argc and from[] of slot I cannot change before it runs. */
static bool knows_argc(const struct check *check, unsigned long i)
{
	return !is_written(check, i, WORD_ARGC);
}

static bool is_forwarded(const struct batch_slot *slot, int arg)
{
	return forwards(slot) && slot->from[arg];
}

/* A call that no kernel has always fails: programs use it as "go to". */
static unsigned int check_absent(struct check *check, unsigned long i, const char *reason)
{
	const struct batch_slot *slot = &check->calls[i];

	if (!slot->jump_fail || (slot->argc && knows_argc(check, i)))
		report(check, i, FERRY_WARNING, reason);
	return FERRY_ON_FAIL;
}

static bool is_null(const struct check *check, unsigned long i, int arg)
{
	const struct batch_slot *slot = &check->calls[i];

	return !slot->arg[arg] && !is_written(check, i, WORD_ARG(arg)) && knows_argc(check, i) &&
	       !is_forwarded(slot, arg);
}

static unsigned int check_copy(struct check *check, unsigned long i)
{
	unsigned int results = FERRY_ON_FAIL | FERRY_ON_ZERO;

	if (argc_of(&check->calls[i]) != 2 && knows_argc(check, i))
		report(check, i, FERRY_WARNING,
		       "a word copy has two arguments, destination and source");
	if (is_null(check, i, 0)) {
		report(check, i, FERRY_ERROR, "the destination of the word copy is NULL");
		results = FERRY_ON_FAIL;
	}
	if (is_null(check, i, 1)) {
		report(check, i, FERRY_ERROR, "the source of the word copy is NULL");
		results = FERRY_ON_FAIL;
	}
	return results;
}

static unsigned int check_number(struct check *check, unsigned long i)
{
	short nr = check->calls[i].nr;
	const char *reason = ferry_blocked_reason(nr);

	if (reason) {
		report(check, i, FERRY_ERROR, reason);
		return FERRY_ON_FAIL;
	}
	if (nr == BATCH_WDCPY)
		return check_copy(check, i);
	if (nr < 0)
		return check_absent(
			check, i,
			"a negative number is not a call: the slot only fails, and as a "
			"go-to it has a jump on failure and no arguments");
	if (nr >= SUBCALL_NR_LIMIT)
		return check_absent(check, i,
				    "no kernel has a call of this number: the slot only fails, and "
				    "as a go-to it has a jump on failure and no arguments");
	return FERRY_ALWAYS;
}

static unsigned int check_arguments(struct check *check, unsigned long i)
{
	const struct batch_slot *slot = &check->calls[i];
	unsigned int results = FERRY_ALWAYS;
	int k;

	if (argc_of(slot) > BATCH_MAX_ARGS) {
		report(check, i, FERRY_ERROR,
		       "argc is over 6 (its bit 7, which turns forwarding on, not counted)");
		results = FERRY_ON_FAIL;
	}
	if (!forwards(slot))
		return results;
	if (slot->reserved) {
		report(check, i, FERRY_ERROR, "the reserved byte is not 0 in a slot that forwards");
		results = FERRY_ON_FAIL;
	}
	for (k = 0; k < BATCH_MAX_ARGS; k++) {
		if (slot->from[k] <= i)
			continue;
		report(check, i, FERRY_ERROR, "forwards a result from before slot 0");
		results = FERRY_ON_FAIL;
	}
	return results;
}

/* ---- one slot among the others ---- */

static void check_forwarding(struct check *check, unsigned long i)
{
	const struct batch_slot *slot = &check->calls[i];
	const struct place *place = place_of(check, i);
	int k;

	for (k = 0; k < BATCH_MAX_ARGS; k++) {
		if (!is_forwarded(slot, k))
			continue;
		if ((unsigned int)k >= argc_of(slot))
			report(check, i, FERRY_WARNING,
			       "forwards a result into an argument that the call does not have");
		if (!place->reached || check->lost || slot->from[k] > i)
			continue;
		if (!has(&place->some, slot->from[k]))
			report(check, i, FERRY_WARNING,
			       "forwards the result of a slot that never runs before this one");
		else if (!has(&place->every, slot->from[k]))
			report(check, i, FERRY_WARNING,
			       "forwards the result of a slot that does not run on every path");
	}
}

/* Notes which words the word copy of slot I may write, if its destination is fixed. */
static void note_copy(struct check *check, unsigned long i)
{
	const struct batch_slot *slot = &check->calls[i];
	unsigned long offset = (unsigned long)slot->arg[0] - (unsigned long)check->calls;
	unsigned long byte;
	int end;

	if (is_forwarded(slot, 0) || is_written(check, i, WORD_ARG(0)))
		return;
	/* A misaligned copy writes two words: that of its first byte and that of its last. */
	for (end = 0; end < 2; end++) {
		byte = offset + (end ? sizeof(long) - 1 : 0);
		if (byte / sizeof(*slot) < check->ncall)
			check->written[byte / sizeof(*slot)] |=
				1U << byte % sizeof(*slot) / sizeof(long);
	}
}

/* Slot I can be followed by slot TO. */
static void reach(struct check *check, unsigned long i, unsigned long to)
{
	const struct place *here = place_of(check, i);
	struct place *there = place_of(check, to);
	struct earlier some = seen_from(&here->some, (unsigned int)(to - i));
	struct earlier every = seen_from(&here->every, (unsigned int)(to - i));
	unsigned int w;

	if (!there->reached) {
		*there = (struct place){ .reached = true, .some = some, .every = every };
		return;
	}
	for (w = 0; w < WORDS; w++) {
		there->some.word[w] |= some.word[w];
		there->every.word[w] &= every.word[w];
	}
}

static bool is_past_end(const struct check *check, unsigned long i, short offset)
{
	return offset >= 0 && (unsigned long)offset >= check->ncall - i;
}

/* Follows the jumps after RESULTS, which slot I can have. */
static void check_jumps(struct check *check, unsigned long i, unsigned int results)
{
	const struct batch_slot *slot = &check->calls[i];
	const short offsets[] = { slot->jump_fail, slot->jump_zero, slot->jump_pos };
	bool past_end = false;
	unsigned int k;

	for (k = 0; k < sizeof(offsets) / sizeof(*offsets); k++) {
		if (!(results & 1U << k))
			continue;
		if (is_past_end(check, i, offsets[k]))
			past_end = true;
		else if (offsets[k] >= 0 && i + 1 + (unsigned long)offsets[k] < check->ncall)
			reach(check, i, i + 1 + (unsigned long)offsets[k]);
	}
	if (past_end)
		report(check, i, FERRY_WARNING,
		       "jumps past the end of the batch, further than to the end itself");
}

static void check_slot(struct check *check, unsigned long i)
{
	bool reached = place_of(check, i)->reached || check->lost;
	unsigned int results = FERRY_ALWAYS;

	if (!reached)
		report(check, i, FERRY_WARNING, "nothing leads to this slot");
	if (knows_argc(check, i)) {
		results &= check_arguments(check, i);
		check_forwarding(check, i);
	}
	if (is_written(check, i, WORD_HEAD)) {
		check->lost |= reached;
		return;
	}
	results &= check_number(check, i);
	if (!reached)
		return;
	if (check->calls[i].nr == BATCH_WDCPY && results & FERRY_ON_ZERO)
		note_copy(check, i);
	check_jumps(check, i, results);
}

long ferry_check(const struct batch_slot calls[], unsigned long ncall,
		 struct ferry_problem problems[], size_t room)
{
	struct check check = { calls, ncall, problems, room };
	int saved_errno = errno;
	unsigned long i;

	if (ncall > BATCH_MAX_SLOTS)
		return -EINVAL;
	if (!ncall)
		return 0;
	if (!calls)
		return -EFAULT;
	check.window = ncall < FARTHEST + 1 ? ncall : FARTHEST + 1;
	check.places = calloc(1, check.window * sizeof(*check.places) + ncall);
	errno = saved_errno;
	if (!check.places)
		return -ENOMEM;
	check.written = (unsigned char *)(check.places + check.window);
	check.places[0].reached = true;
	for (i = 0; i < ncall; i++) {
		check_slot(&check, i);
		*place_of(&check, i) = (struct place){ .reached = false };
	}
	free(check.places);
	return (long)check.found;
}

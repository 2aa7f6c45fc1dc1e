/* SPDX-License-Identifier: MIT */
/* The model: a second, simple implementation of batch(2); and deliberately wrong ones. */
#ifndef MODEL_H
#define MODEL_H

#include <linux/ferry.h>

/* Mistakes that an engine might make.  The tester must find each. */
enum bug {
	NO_BUG,
	ZERO_TAKES_POSITIVE_JUMP,
	NEGATIVE_JUMP_GOES_ON,
	FAILURE_REACHES_4096,
	JUMP_OF_WORD_COPY_IGNORED,
	JUMPS_IN_RUNS_IGNORED,
	JUMPS_READ_AFTER_THE_CALL,
	SLOTS_READ_AT_THE_START,
	SKIPPED_RESULT_WRITTEN,
	LAST_SLOT_RETURNED,
	BLOCKED_CALL_MADE,
	UNKNOWN_NUMBER_GIVES_EINVAL,
	ARGC_7_ACCEPTED,
	RESERVED_IGNORED,
	FORWARDED_OFF_BY_ONE,
	FORWARDED_FROM_FUTURE,
	FORWARDED_WITHOUT_BIT_7,
	NUMBER_CHECKED_BEFORE_FORWARDING,
	BUGS
};

/** The bug's name, as in "jump-of-word-copy-ignored". */
const char *bug_name(enum bug bug);

/**
 * Runs a batch whose first READABLE slots can be read; returns like batch().
 * The pointers of word copies must be valid.
 */
long model_run(enum bug bug, long rets[], const struct batch_slot calls[], unsigned long ncall,
	       unsigned long readable);

#endif /* MODEL_H */

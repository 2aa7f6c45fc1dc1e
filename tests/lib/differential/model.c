// SPDX-License-Identifier: MIT
/* The model and its bugs: written from batch(2) alone, sharing no code with the engines. */
#include "model.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"

static const char *const names[BUGS] = {
	[NO_BUG] = "none",
	[ZERO_TAKES_POSITIVE_JUMP] = "zero-takes-positive-jump",
	[NEGATIVE_JUMP_GOES_ON] = "negative-jump-goes-on",
	[FAILURE_REACHES_4096] = "failure-reaches-4096",
	[JUMP_OF_WORD_COPY_IGNORED] = "jump-of-word-copy-ignored",
	[JUMPS_IN_RUNS_IGNORED] = "jumps-in-runs-ignored",
	[JUMPS_READ_AFTER_THE_CALL] = "jumps-read-after-the-call",
	[SLOTS_READ_AT_THE_START] = "slots-read-at-the-start",
	[SKIPPED_RESULT_WRITTEN] = "skipped-result-written",
	[LAST_SLOT_RETURNED] = "last-slot-returned",
	[BLOCKED_CALL_MADE] = "blocked-call-made",
	[UNKNOWN_NUMBER_GIVES_EINVAL] = "unknown-number-gives-einval",
	[ARGC_7_ACCEPTED] = "argc-7-accepted",
	[RESERVED_IGNORED] = "reserved-ignored",
	[FORWARDED_OFF_BY_ONE] = "forwarded-off-by-one",
	[FORWARDED_FROM_FUTURE] = "forwarded-from-future",
	[FORWARDED_WITHOUT_BIT_7] = "forwarded-without-bit-7",
	[NUMBER_CHECKED_BEFORE_FORWARDING] = "number-checked-before-forwarding",
};

const char *bug_name(enum bug bug)
{
	return names[bug];
}

static bool is_blocked(long nr, enum bug bug)
{
	switch (nr) {
	case SYS_restart_syscall:
		return bug != BLOCKED_CALL_MADE;
#ifdef SYS_fork
	case SYS_fork:
	case SYS_vfork:
#endif
	case SYS_clone:
	case SYS_clone3:
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit:
	case SYS_exit_group:
	case SYS_reboot:
	case SYS_rt_sigreturn:
	case FERRY_NR_BATCH:
	case FERRY_NR_FLEXSC_REGISTER:
	case FERRY_NR_FLEXSC_SERVE:
#ifdef __x86_64__
	case 183: /* afs_syscall: batch under the series' compatibility option */
	case 335: /* uretprobe */
	case 336: /* uprobe */
#endif
		return true;
	default:
		return false;
	}
}

/* syscall(3) folds failures into -1 and errno; -1 itself is then -EPERM or a result of -1. */
static long call(long nr, const __s64 args[])
{
	long result;

	errno = 0;
	result = syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
	return result == -1 && errno ? -errno : result;
}

static long copy_word(const __s64 args[])
{
	long word;

	memcpy(&word, (const void *)args[1], sizeof(word));
	memcpy((void *)args[0], &word, sizeof(word));
	return 0;
}

/* Replaces arguments of SLOT, which is slot I, by results.  Returns 0, or the error. */
static long forward(struct batch_slot *slot, unsigned long i, const long rets[], enum bug bug)
{
	int k;

	if (slot->reserved && bug != RESERVED_IGNORED)
		return -EINVAL;
	for (k = 0; k < 6; k++) {
		unsigned long d = slot->from[k];

		if (d > i && bug == FORWARDED_FROM_FUTURE)
			continue;
		if (d > i)
			return -EINVAL;
	}
	for (k = 0; k < 6; k++) {
		unsigned long d = slot->from[k];

		if (d && d <= i)
			slot->arg[k] = rets[bug == FORWARDED_OFF_BY_ONE ? i - d + 1 : i - d];
	}
	return 0;
}

static void forward_carelessly(struct batch_slot *slot, unsigned long i, const long rets[])
{
	int k;

	for (k = 0; k < 6; k++)
		if (slot->from[k] && slot->from[k] <= i)
			slot->arg[k] = rets[i - slot->from[k]];
}

/* The result of SLOT, a copy of slot I. */
static long run_slot(struct batch_slot *slot, unsigned long i, const long rets[], enum bug bug)
{
	unsigned int argc = slot->argc & 0x7f;
	long refusal = 0;

	if (argc > 6 && !(argc == 7 && bug == ARGC_7_ACCEPTED))
		return -ENOSYS;
	if (bug == NUMBER_CHECKED_BEFORE_FORWARDING && slot->nr < 0 && slot->nr != BATCH_WDCPY)
		return -ENOSYS;
	if (slot->argc & 0x80)
		refusal = forward(slot, i, rets, bug);
	else if (bug == FORWARDED_WITHOUT_BIT_7 && slot->nr != BATCH_WDCPY)
		forward_carelessly(slot, i, rets);
	if (refusal)
		return refusal;
	if (slot->nr == BATCH_WDCPY)
		return copy_word(slot->arg);
	if (slot->nr < 0 || slot->nr > 1000 || is_blocked(slot->nr, bug))
		return bug == UNKNOWN_NUMBER_GIVES_EINVAL ? -EINVAL : -ENOSYS;
	return call(slot->nr, slot->arg);
}

static short jump_of(const struct batch_slot *slot, long result, enum bug bug)
{
	const long last_failure = bug == FAILURE_REACHES_4096 ? -4096 : -4095;

	if (slot->nr == BATCH_WDCPY && bug == JUMP_OF_WORD_COPY_IGNORED)
		return 0;
	if (result < 0 && result >= last_failure)
		return slot->jump_fail;
	if (result == 0 && bug != ZERO_TAKES_POSITIVE_JUMP)
		return slot->jump_zero;
	return slot->jump_pos;
}

static bool in_a_run(const struct batch_slot calls[], unsigned long i, unsigned long end)
{
	return i + 1 < end && calls[i].nr == calls[i + 1].nr &&
	       calls[i].arg[0] == calls[i + 1].arg[0] && calls[i].nr >= 0;
}

long model_run(enum bug bug, long rets[], const struct batch_slot calls[], unsigned long ncall,
	       unsigned long readable)
{
	static struct batch_slot at_start[MAX_SLOTS];
	unsigned long end = ncall < readable ? ncall : readable;
	long last = ncall ? -EFAULT : 0;
	unsigned long i = 0;

	if (bug == SLOTS_READ_AT_THE_START)
		calls = memcpy(at_start, calls, end * sizeof(*calls));
	while (i < end) {
		struct batch_slot slot;
		long result;
		short jump;

		memcpy(&slot, &calls[i], sizeof(slot));
		result = run_slot(&slot, i, rets, bug);
		rets[i] = result;
		last = (long)i;
		if (bug == JUMPS_READ_AFTER_THE_CALL)
			memcpy(&slot, &calls[i], 8);
		jump = jump_of(&slot, result, bug);
		if (bug == JUMPS_IN_RUNS_IGNORED && in_a_run(calls, i, end))
			jump = 0;
		if (jump < 0 && bug != NEGATIVE_JUMP_GOES_ON)
			break;
		if (jump > 0 && i + 1 < end && bug == SKIPPED_RESULT_WRITTEN)
			rets[i + 1] = 0;
		i += 1 + (unsigned long)(jump < 0 ? 0 : jump);
		if (i >= end && jump > 0 && bug == LAST_SLOT_RETURNED)
			last = (long)end - 1;
	}
	return last;
}

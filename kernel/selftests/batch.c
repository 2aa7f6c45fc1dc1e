// SPDX-License-Identifier: GPL-2.0
/* Runs the tests of what a batch means, contract/, or those whose name holds the argument. */
#include "../kselftest.h"

#include "batch_call.h"
#include "contract/suite.h"

#include <linux/subcall.h>

/* ---- user space's half of a batch ---- */

#define NUMBER(ctx, nr, name, reason) nr,

static bool is_blocked(short nr)
{
	static const short blocked[] = { SUBCALL_BLOCKED_TABLE(NUMBER, 0) };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(blocked); i++)
		if (nr == blocked[i])
			return true;
	return false;
}

/* The call of SLOT, whose result belongs in *RET. */
static long make_call(const struct batch_slot *slot, const long *ret)
{
	const bool forwards = slot->argc & BATCH_ARGC_FORWARD;
	long arg[BATCH_MAX_ARGS], k;

	for (k = 0; k < BATCH_MAX_ARGS; k++)
		arg[k] = forwards && slot->from[k] ? ret[-slot->from[k]] : slot->arg[k];
	if (slot->nr == BATCH_WDCPY) {
		memmove((void *)arg[0], (void *)arg[1], sizeof(long));
		return 0;
	}
	if (slot->nr < 0 || is_blocked(slot->nr))
		return -ENOSYS;
	return raw_call(slot->nr, arg);
}

static short jump_of(const struct batch_slot *slot, long result)
{
	if (!result)
		return slot->jump_zero;
	return result < 0 && result >= -BATCH_MAX_ERRNO ? slot->jump_fail : slot->jump_pos;
}

/* The result of the slot that batch() left with ANSWER. */
static long result_of_left(const struct batch_args *args, long answer, const long *ret)
{
	long none[BATCH_MAX_ARGS] = {};

	if (args->state == BATCH_ANSWER)
		return answer;
	if (args->state == BATCH_STORE)
		return args->result;
	if (answer == -EINTR)
		return answer;
	if (args->state == BATCH_RESTART)
		return raw_call(__NR_restart_syscall, none);
	return make_call(&args->slot, ret);
}

/*
 * Whether the word at ADDRESS can be read, if that at KNOWN can.  On another page it takes a call:
 * rt_sigprocmask() reads its mask before it looks at its first argument.
 */
static bool is_readable(const long *address, const long *known)
{
	long arg[BATCH_MAX_ARGS] = { -1, (long)address, 0, sizeof(long) };

	return !(((long)address ^ (long)known) & -4096L) ||
	       raw_call(__NR_rt_sigprocmask, arg) != -EFAULT;
}

/* The rest of a batch of which nothing is to be made in the kernel: a filter may forbid it. */
static long run_rest(struct batch_args *args)
{
	const struct batch_slot *calls = (const struct batch_slot *)args->calls;
	long *rets = (long *)args->rets, i = args->position, jump;
	long last = i ? (long)args->last : -EFAULT;
	const long *known = i ? (long *)&calls[last + 1] - 1 : (long *)-1L;

	for (;; i += 1 + jump) {
		const long *first = (long *)&calls[i], *end = (long *)&calls[i + 1] - 1;
		struct batch_slot slot;

		if (!is_readable(first, known) || !is_readable(end, first))
			return last;
		known = end;
		slot = calls[i];
		rets[i] = make_call(&slot, &rets[i]);
		last = i;
		jump = jump_of(&slot, rets[i]);
		if (jump < 0 || i + 1 + jump >= (long)args->ncall)
			return i;
	}
}

long run_batch(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	struct batch_args args = batch_args(rets, calls, ncall);

	for (;;) {
		const long answer = raw_batch(&args, sizeof(args));
		const bool again = args.state == BATCH_STORE ||
				   (answer == -EINTR && args.state != BATCH_ANSWER);
		const unsigned long i = args.position;
		long jump;

		if (args.state != BATCH_ANSWER && answer != -EINTR && answer != -EOPNOTSUPP)
			return answer;
		if (args.state != BATCH_BEGIN) {
			rets[i] = result_of_left(&args, answer, &rets[i]);
			jump = jump_of(&args.slot, rets[i]);
			if (jump < 0 || i + 1 + jump >= ncall)
				return i;
			args.last = i;
			args.position = i + 1 + jump;
			args.state = BATCH_BEGIN;
		}
		if (!again)
			return run_rest(&args);
	}
}

/* ---- all tests ---- */

static unsigned int count_tests(const char *filter)
{
	const struct test *test;
	unsigned int count = 0;

	for (test = test_first(); test; test = test->next)
		count += !!strstr(test->name, filter);
	return count;
}

int main(int argc, char **argv)
{
	const char *filter = argc > 1 ? argv[1] : "";
	const struct test *test;

	ksft_print_header();
	if (!have_batch())
		ksft_exit_skip(NO_BATCH "\n");
	ksft_set_plan(count_tests(filter));
	for (test = test_first(); test; test = test->next) {
		int status;

		if (!strstr(test->name, filter))
			continue;
		status = test_status(test);
		if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SKIPPED)
			ksft_test_result_skip("%s\n", test->name);
		else
			ksft_test_result(!status, "%s\n", test->name);
	}
	ksft_finished();
}

// SPDX-License-Identifier: GPL-2.0
/* Runs the tests of what a batch means, contract/, or those whose name holds the argument. */
#include "../kselftest.h"

#include "batch_call.h"
#include "contract/suite.h"

#include <linux/ferry_blocked.h>

/* ---- user space's half of a batch ---- */

static bool is_blocked(short nr)
{
	static const unsigned long map[] = FERRY_BLOCKED_WORDS;

	return nr < FERRY_BLOCKED_LIMIT && map[nr / 64] >> (nr % 64) & 1;
}

static long make_call(const struct ferry_slot *slot, const long *ret)
{
	const bool forwards = slot->argc & FERRY_ARGC_FORWARD;
	long arg[FERRY_MAX_ARGS], k;

	for (k = 0; k < FERRY_MAX_ARGS; k++)
		arg[k] = forwards && slot->from[k] ? ret[-slot->from[k]] : slot->arg[k];
	if (slot->nr == FERRY_NR_WDCPY) {
		memmove((void *)arg[0], (void *)arg[1], sizeof(long));
		return 0;
	}
	if (slot->nr < 0 || is_blocked(slot->nr))
		return -ENOSYS;
	return raw_call(slot->nr, arg);
}

static short jump_of(const struct ferry_slot *slot, long result)
{
	if (!result)
		return slot->jump_zero;
	return result < 0 && result >= -FERRY_MAX_ERRNO ? slot->jump_fail : slot->jump_pos;
}

long run_batch(long rets[], const struct ferry_slot calls[], unsigned long ncall)
{
	long none[FERRY_MAX_ARGS] = {};
	long answer = raw_batch(rets, calls, ncall, 0, sizeof(*calls));
	unsigned long i = FERRY_RESUME_INDEX(answer);
	short jump;

	if (answer < FERRY_BATCH_PARTIAL)
		return answer;
	/* From there on all calls are made here: a filter may forbid another batch(). */
	for (;; i += 1 + jump) {
		if (answer & FERRY_BATCH_EINTR)
			rets[i] = -EINTR;
		else if (answer & FERRY_BATCH_RESTART)
			rets[i] = raw_call(__NR_restart_syscall, none);
		else
			rets[i] = make_call(&calls[i], &rets[i]);
		answer = 0;
		jump = jump_of(&calls[i], rets[i]);
		if (jump < 0 || i + 1 + jump >= ncall)
			return i;
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

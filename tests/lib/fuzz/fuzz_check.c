// SPDX-License-Identifier: MIT
/*
 * Fuzzes the checker: any bytes are slots.  Its reports must be well-formed and true.
 * A harmless program is run: slots with an error must fail, and unreachable slots must
 * not run.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ferry.h>
#include <ferry/loop.h>

#define SLOTS_MAX 512
#define WORDS 8
#define SENTINEL 0x5ca1ab1eL

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "not so: %s\n", what);
	abort();
}

/* ---- reports ---- */

static void require_well_formed(const struct ferry_problem *problem, unsigned long after,
				unsigned long ncall)
{
	require(problem->slot < ncall, "the slot is one of the batch's");
	require(problem->slot >= after, "problems are in the order of the slots");
	require(problem->severity == FERRY_WARNING || problem->severity == FERRY_ERROR,
		"the severity is one of the two");
	require(problem->reason && *problem->reason, "there is a reason");
}

/* All problems of the batch.  The caller frees the array. */
static struct ferry_problem *check(const struct batch_slot calls[], unsigned long ncall,
				   long *total)
{
	unsigned long after = 0;
	struct ferry_problem *problems;
	struct ferry_problem first;

	*total = ferry_check(calls, ncall, NULL, 0);
	require(*total >= 0, "any slots can be checked");
	problems = malloc((size_t)*total * sizeof(*problems) + 1);
	require(problems, "there is memory");
	require(ferry_check(calls, ncall, problems, (size_t)*total) == *total,
		"the total does not depend on the room");
	for (long i = 0; i < *total; i++) {
		require_well_formed(&problems[i], after, ncall);
		after = problems[i].slot;
	}
	if (*total) {
		require(ferry_check(calls, ncall, &first, 1) == *total, "the total counts all");
		require(first.slot == problems[0].slot && first.reason == problems[0].reason,
			"the first problem comes first");
	}
	return problems;
}

/* ---- whether the reports are true ---- */

static long words[WORDS]; /* what word copies may copy */

static bool is_harmless_number(short nr)
{
	switch (nr) {
	case __NR_getpid:
	case __NR_getppid:
	case __NR_gettid:
	case __NR_getuid:
	case BATCH_WDCPY:
		return true;
	default:
		return nr < 0 || nr >= SUBCALL_NR_LIMIT || ferry_blocked_reason(nr);
	}
}

/* Maps the pointers of word copies to words[]; 0 stays NULL. */
static void aim(struct batch_slot *slot)
{
	for (int k = 0; k < 2; k++)
		if (slot->arg[k])
			slot->arg[k] = (long)&words[(unsigned long)slot->arg[k] % WORDS];
}

/* A copy by a forwarded pointer raises SIGSEGV in the loop; one by NULL gives -EFAULT. */
static bool is_safe_copy(const struct batch_slot *slot)
{
	return !(slot->argc & BATCH_ARGC_FORWARD) || !(slot->from[0] || slot->from[1]);
}

static bool can_be_run(struct batch_slot calls[], unsigned long ncall)
{
	bool harmless = true;

	for (unsigned long i = 0; i < ncall; i++) {
		harmless = harmless && is_harmless_number(calls[i].nr);
		if (calls[i].nr != BATCH_WDCPY)
			continue;
		aim(&calls[i]);
		harmless = harmless && is_safe_copy(&calls[i]);
	}
	return harmless;
}

static void require_true(const struct ferry_problem problems[], long total, const long rets[])
{
	for (long i = 0; i < total; i++) {
		long result = rets[problems[i].slot];

		if (problems[i].severity == FERRY_ERROR)
			require(result == SENTINEL || ferry_failed(result), "an error fails");
		if (strstr(problems[i].reason, "nothing leads"))
			require(result == SENTINEL, "a slot that nothing leads to does not run");
	}
}

static void run(const struct batch_slot calls[], unsigned long ncall,
		const struct ferry_problem problems[], long total)
{
	long rets[SLOTS_MAX];
	long last;

	for (unsigned long i = 0; i < ncall; i++)
		rets[i] = SENTINEL;
	last = ferry_loop(rets, calls, ncall);
	require(last >= 0 && (unsigned long)last < ncall, "a batch runs");
	require_true(problems, total, rets);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	unsigned long ncall = length / sizeof(struct batch_slot);
	struct batch_slot *calls;
	struct ferry_problem *problems;
	bool runs;
	long total;

	if (!ncall || ncall > SLOTS_MAX)
		return 0;
	/* Exactly as large as the batch, so that a sanitizer detects accesses beyond it. */
	calls = malloc(ncall * sizeof(*calls));
	require(calls, "there is memory");
	memcpy(calls, bytes, ncall * sizeof(*calls));
	free(check(calls, ncall, &total));

	runs = can_be_run(calls, ncall);
	problems = check(calls, ncall, &total);
	if (runs)
		run(calls, ncall, problems, total);
	free(problems);
	free(calls);
	return 0;
}

// SPDX-License-Identifier: MIT
/* Which calls cost something beyond their own time, and how much. */
#include "tests/unit.h"

#include <math.h>
#include <sys/syscall.h>

#include "common/record.h"
#include "trace/findings/evidence.h"
#include "trace/indirect.h"

#define EMPTY 20.0F /* ns: the time between two calls that follow each other */
#define WORK 500.0F /* ns: the same with work between them */
#define CALLS 4

static const struct costs costs = {
	.indirect = { [OF_NOTHING] = { 10, 1 }, [OF_FILE] = { 100, 2 }, [OF_PATH] = { 1000, 3 } },
};
static const struct totals totals = { .calls = CALLS };
static const struct collected collected = { .empty_between = { EMPTY, 0 } };

struct sample {
	struct traced_call calls[CALLS];
	struct seen_call seen[CALLS];
	struct evidence evidence;
};

/* CALLS calls of NR that nothing separates. */
static void take_sample(struct sample *sample, int nr)
{
	size_t i;

	*sample = (struct sample){ 0 };
	for (i = 0; i < CALLS; i++) {
		sample->calls[i].nr = nr;
		sample->calls[i].between_ns = EMPTY;
		sample->seen[i].call = &sample->calls[i];
		sample->seen[i].calls = 1;
	}
	sample->evidence = (struct evidence){ .of = sample->seen,
					      .count = CALLS,
					      .totals = &totals,
					      .costs = &costs,
					      .collected = &collected,
					      .cpu_ns = 1e9 };
}

static struct figure cost_of_calls(int nr, float between_ns)
{
	struct sample sample;
	size_t i;

	take_sample(&sample, nr);
	for (i = 0; i < CALLS; i++)
		sample.calls[i].between_ns = between_ns;
	return indirect_cost(&sample.evidence);
}

TEST(calls_one_after_the_other_evict_nothing)
{
	assert_true(cost_of_calls(SYS_getppid, EMPTY).value == 0);
	assert_true(cost_of_calls(SYS_newfstatat, EMPTY).value == 0);
}

TEST(calls_between_work_cost_what_their_kind_costs)
{
	assert_true(cost_of_calls(SYS_getppid, WORK).value == CALLS * 10);
	assert_true(cost_of_calls(SYS_read, WORK).value == CALLS * 100);
	assert_true(cost_of_calls(SYS_newfstatat, WORK).value == CALLS * 1000);
	assert_true(cost_of_calls(SYS_newfstatat, WORK).error == CALLS * 3);
}

TEST(calls_without_a_time_are_like_the_others)
{
	struct sample sample;

	take_sample(&sample, SYS_read);
	sample.calls[0].between_ns = WORK;
	sample.calls[1].cpu_ns = NAN;
	sample.calls[2].cpu_ns = NAN;
	assert_true(indirect_cost(&sample.evidence).value == 2 * 100);
}

/* With ptrace(2), the time between two calls is not known. */
TEST(where_no_time_is_known_any_call_may_have_work_before_it)
{
	struct sample sample;

	take_sample(&sample, SYS_read);
	sample.evidence.fixed.value = NAN;
	assert_true(indirect_cost(&sample.evidence).value == CALLS * 100);
}

TEST(no_indirect_cost_is_more_than_the_time_that_is_left)
{
	struct sample sample;

	take_sample(&sample, SYS_read);
	sample.evidence.fixed.value = NAN;
	sample.evidence.cpu_ns = 150;
	assert_true(indirect_cost(&sample.evidence).value == 150);
	sample.evidence.cpu_ns = NAN;
	assert_true(indirect_cost(&sample.evidence).value == CALLS * 100);
}

/* A cure that saves half of the time of two calls saves half of what these evict. */
TEST(a_finding_saves_the_indirect_cost_of_its_own_calls)
{
	struct finding each[] = {
		{ .kind = "value", .cost = { 8, 0 }, .saved = { 4, 0 } },
		{ .kind = "sync", .cost = { 8, 0 }, .saved = { 4, 0 }, .waits = true }
	};
	struct findings findings = { each, COUNT_OF(each) };
	struct sample sample;
	size_t i;

	take_sample(&sample, SYS_read);
	for (i = 0; i < CALLS; i++)
		sample.calls[i].between_ns = WORK;
	sample.seen[0].claimed = "value";
	sample.seen[1].claimed = "value";
	sample.seen[2].claimed = "sync";
	add_indirect(&sample.evidence, &findings);
	assert_true(each[0].indirect.value == 100);
	assert_true(each[1].indirect.value == 0);
}

TEST_MAIN

// SPDX-License-Identifier: MIT
/* What a program is charged for being traced. */
#include "tests/unit.h"

#include "trace/bpf/cost.h"

/* Each call of the program has a file. */
static double charged_with(struct sendings sendings, struct traced_events events)
{
	struct traced_call call = { .file = "/dev/null" };
	struct window window = { .count = 1, .calls = &call };
	struct window *all[] = { &window };
	const struct windows windows = { .of = all, .count = 1, .calls = 1 };
	const struct tracing_cost cost = {
		.of = { [AT_FILE] = { 1, 0 },
			[FAULT] = { 2, 0 },
			[TURN] = { 4, 0 },
			[THREAD] = { 8, 0 } },
		.sent = { [AT_FILE] = { 16, 0 } },
		.timed = { [AT_FILE] = { 32, 0 } },
		.stack = { 64, 0 },
		.sendings = { .ns = { [AT_FILE] = 1000 }, .count = { [AT_FILE] = 10 } },
	};

	return cost_of_events(&cost, &windows, &sendings, &events).value;
}

static double charged(struct traced_events events)
{
	return charged_with((struct sendings){ 0 }, events);
}

TEST(each_kind_of_event_is_charged)
{
	assert_true(charged((struct traced_events){ .calls = 10 }) == 10);
	assert_true(charged((struct traced_events){ .faults = 10 }) == 20);
	assert_true(charged((struct traced_events){ .turns = 10 }) == 40);
	assert_true(charged((struct traced_events){ .threads = 10 }) == 80);
	assert_true(charged((struct traced_events){ .stacks = 10 }) == 640);
}

TEST(a_call_in_the_sample_costs_more_and_one_whose_beginning_was_noted_even_more)
{
	assert_true(charged((struct traced_events){ .calls = 10, .sent = 5 }) == 10 + 5 * 16);
	assert_true(charged((struct traced_events){ .calls = 10, .sent = 5, .timed = 3 }) ==
		    10 + 5 * 16 + 3 * 32);
}

TEST(calls_that_are_sent_more_slowly_than_in_a_loop_cost_more)
{
	const struct sendings slow = { .ns = { [AT_FILE] = 3000 }, .count = { [AT_FILE] = 20 } };
	const struct sendings fast = { .ns = { [AT_FILE] = 1000 }, .count = { [AT_FILE] = 20 } };
	const struct traced_events events = { .calls = 10, .faults = 10 };

	assert_true(charged_with(slow, events) == 1.5 * 10 + 20);
	assert_true(charged_with(fast, events) == 10 + 20);
}

static struct bpf_call timed_call(uint64_t began, uint64_t between_ns)
{
	return (struct bpf_call){
		.began = began, .wall_ns = 100, .between_ns = between_ns, .file.is_open = true
	};
}

TEST(a_call_was_sent_between_its_end_and_the_time_of_the_program_before_the_next)
{
	struct sendings sendings = { 0 };
	struct sending last = { 0 };
	const struct bpf_call first = timed_call(1000, 0), next = timed_call(1350, 50);
	const struct bpf_call late = timed_call(2000000, 10);

	note_sending(&sendings, &last, &first);
	assert_true(sendings.count[AT_FILE] == 0);
	note_sending(&sendings, &last, &next);
	assert_true(sendings.count[AT_FILE] == 1 && sendings.ns[AT_FILE] == 200);
	note_sending(&sendings, &last, &late);
	assert_true(sendings.count[AT_FILE] == 1);
}

TEST_MAIN

// SPDX-License-Identifier: MIT
/* Tests the threads that work on one call. */
#include <time.h>

#include "tests/unit.h"
#include "lib/files/calls.h"
#include "lib/files/crew.h"

/* Several times the interval at which the caller reports while it waits. */
#define LATE_NS 500000000L

static int end_at_once(void *context, size_t done)
{
	(void)done;
	++*(int *)context;
	return 1;
}

/* The caller works until it is told to stop; its helper is still in a call then. */
static void work(struct member *member)
{
	const struct timespec late = { 0, LATE_NS };

	if (member->is_caller)
		while (!ferry__crew_stopped(member))
			;
	else
		nanosleep(&late, NULL);
	ferry__calls_end(member);
}

TEST(test_progress_that_ended_the_call_is_not_called_again)
{
	int calls = 0;
	const struct ferry_files_options options = {
		.threads = 2,
		.progress = end_at_once,
		.context = &calls,
	};
	struct crew crew;

	ferry__crew_init(&crew, work, &options);
	ferry__crew_run(&crew, 2);
	assert_int_equal(atomic_load(&crew.size), 2);
	assert_int_equal(calls, 1);
}

TEST_MAIN

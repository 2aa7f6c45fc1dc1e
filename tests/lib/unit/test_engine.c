// SPDX-License-Identifier: MIT
/* Engines: names, selection by environment and by call, and refusals of ferry_batch(). */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include <ferry.h>

#include "child.h"

#define SENTINEL 0x5ca1ab1eL
#define QUERY_ANSWER \
	(BATCH_VERSION | (BATCH_FEATURE_WDCPY | BATCH_FEATURE_FORWARD) << BATCH_FEATURE_SHIFT)

static int clear_environment(void **state)
{
	(void)state;
	return unsetenv("BATCH_EMUL") || unsetenv("FERRY_ENGINE");
}

/* ---- names ---- */

static void every_engine_has_a_name_that_leads_back_to_it(void **state)
{
	static const char *const names[FERRY_ENGINES] = { "auto", "loop", "device", "syscall" };

	(void)state;
	for (int engine = FERRY_AUTO; engine < FERRY_ENGINES; engine++) {
		assert_string_equal(ferry_engine_name(engine), names[engine]);
		assert_int_equal(ferry_engine_by_name(names[engine]), engine);
		assert_true(strlen(ferry_engine_summary(engine)) > 0);
	}
}

static void no_other_name_or_number_is_an_engine(void **state)
{
	static const char *const names[] = { "", "Loop", "loop ", "looper", "lo", "0", "none" };
	static const int numbers[] = { -1, FERRY_ENGINES, INT_MAX, INT_MIN };
	const char *why = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_int_equal(ferry_engine_by_name(names[i]), -EINVAL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		enum ferry_engine engine = (enum ferry_engine)numbers[i];

		assert_null(ferry_engine_name(engine));
		assert_null(ferry_engine_summary(engine));
		assert_int_equal(ferry_engine_probe(engine, &why), -EINVAL);
		assert_non_null(why);
	}
}

static void probe_says_why(void **state)
{
	const char *why;

	(void)state;
	for (int engine = FERRY_AUTO; engine < FERRY_ENGINES; engine++) {
		why = NULL;
		assert_int_equal(ferry_engine_probe(engine, &why),
				 ferry_engine_probe(engine, NULL));
		assert_true(why && strlen(why) > 0);
		assert_true(ferry_engine_probe(engine, NULL) <= 0);
	}
	assert_int_equal(ferry_engine_probe(FERRY_AUTO, NULL), 0);
	assert_int_equal(ferry_engine_probe(FERRY_LOOP, NULL), 0);
}

/* ---- the choice ---- */

static int wanted; /* the engine that a child must find in use, or a negative errno */

static void in_use_is_as_wanted(void)
{
	struct batch_slot slot = { .nr = SYS_getpid };
	long ret = SENTINEL;

	CHILD_ASSERT(ferry_engine_in_use() == wanted);
	CHILD_ASSERT(ferry_engine_in_use() == wanted);
	CHILD_ASSERT(ferry_batch(&ret, &slot, 1, 0, 0) == (wanted < 0 ? wanted : 0));
	CHILD_ASSERT(ret == (wanted < 0 ? SENTINEL : getpid()));
}

static void assert_in_use(int engine)
{
	wanted = engine;
	ASSERT_IN_CHILD(in_use_is_as_wanted);
}

static void auto_is_in_use_until_something_else_is_said(void **state)
{
	(void)state;
	assert_in_use(FERRY_AUTO);
	assert_int_equal(setenv("FERRY_ENGINE", "", 1), 0);
	assert_in_use(FERRY_AUTO);
}

static void batch_emul_means_the_loop(void **state)
{
	(void)state;
	assert_int_equal(setenv("BATCH_EMUL", "", 1), 0);
	assert_in_use(FERRY_LOOP);
	assert_int_equal(setenv("BATCH_EMUL", "0", 1), 0);
	assert_in_use(FERRY_LOOP);
}

static void environment_names_an_engine(void **state)
{
	int error;

	(void)state;
	assert_int_equal(setenv("BATCH_EMUL", "1", 1), 0);
	for (int engine = FERRY_AUTO; engine < FERRY_ENGINES; engine++) {
		error = ferry_engine_probe(engine, NULL);
		assert_int_equal(setenv("FERRY_ENGINE", ferry_engine_name(engine), 1), 0);
		assert_in_use(error ? error : engine);
	}
}

static void environment_that_names_no_engine_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(setenv("BATCH_EMUL", "1", 1), 0);
	assert_int_equal(setenv("FERRY_ENGINE", "turbo", 1), 0);
	assert_in_use(-EINVAL);
}

static void use_overrules_the_environment(void)
{
	CHILD_ASSERT(ferry_engine_use(FERRY_LOOP) == 0);
	CHILD_ASSERT(ferry_engine_in_use() == FERRY_LOOP);
	CHILD_ASSERT(ferry_engine_use(FERRY_AUTO) == 0);
	CHILD_ASSERT(ferry_engine_in_use() == FERRY_AUTO);
}

static void use_works_whatever_the_environment_says(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(use_overrules_the_environment);
	assert_int_equal(setenv("FERRY_ENGINE", "turbo", 1), 0);
	ASSERT_IN_CHILD(use_overrules_the_environment);
}

static void use_takes_what_is_there_and_nothing_else(void)
{
	int error;

	for (int engine = FERRY_AUTO; engine <= FERRY_ENGINES; engine++) {
		CHILD_ASSERT(ferry_engine_use(FERRY_LOOP) == 0);
		error = ferry_engine_probe((enum ferry_engine)engine, NULL);
		CHILD_ASSERT(ferry_engine_use((enum ferry_engine)engine) == error);
		CHILD_ASSERT(ferry_engine_in_use() == (error ? FERRY_LOOP : engine));
	}
}

static void use_of_an_absent_engine_leaves_the_choice(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(use_takes_what_is_there_and_nothing_else);
}

static void auto_has_the_fewest_crossings(void **state)
{
	const char *why;
	enum ferry_engine engine = ferry_engine_auto(&why);

	(void)state;
	assert_true(strlen(why) > 0);
	assert_int_equal(ferry_engine_auto(NULL), engine);
	if (!ferry_engine_probe(FERRY_SYSCALL, NULL))
		assert_int_equal(engine, FERRY_SYSCALL);
	else if (!ferry_engine_probe(FERRY_DEVICE, NULL))
		assert_int_equal(engine, FERRY_DEVICE);
	else
		assert_int_equal(engine, FERRY_LOOP);
}

/* ---- the arguments of a batch, on every available engine ---- */

static void for_each_engine(void (*body)(enum ferry_engine engine))
{
	for (int engine = FERRY_AUTO; engine < FERRY_ENGINES; engine++)
		if (!ferry_engine_probe(engine, NULL))
			body(engine);
}

static void refuse_flags_and_sizes(enum ferry_engine engine)
{
	static const long flags[] = { 2, 3, -1, LONG_MIN, LONG_MAX, 1L << 32 };
	static const long sizes[] = {
		1, 63, 65, 128, -1, -64, LONG_MIN, LONG_MAX, (1L << 32) + 64
	};
	struct batch_slot slot = { .nr = SYS_getpid };
	long ret = SENTINEL;

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		assert_int_equal(ferry_batch_on(engine, &ret, &slot, 1, flags[i], 0), -EINVAL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		assert_int_equal(ferry_batch_on(engine, &ret, &slot, 1, 0, sizes[i]), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, NULL, NULL, 0, 2, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, NULL, NULL, 0, 0, 63), -EINVAL);
	assert_int_equal(ret, SENTINEL);
	assert_int_equal(ferry_batch_on(engine, &ret, &slot, 1, 0, sizeof(slot)), 0);
	assert_int_equal(ret, getpid());
}

static void flags_and_sizes_of_the_future_are_refused(void **state)
{
	(void)state;
	for_each_engine(refuse_flags_and_sizes);
}

static void answer_query(enum ferry_engine engine)
{
	struct batch_slot slot = { .nr = SYS_getpid };
	long ret = SENTINEL;

	assert_int_equal(ferry_batch_on(engine, NULL, NULL, 0, FERRY_BATCH_QUERY, 0), QUERY_ANSWER);
	assert_int_equal(ferry_batch_on(engine, &ret, NULL, 0, FERRY_BATCH_QUERY, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, NULL, &slot, 0, FERRY_BATCH_QUERY, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, NULL, NULL, 1, FERRY_BATCH_QUERY, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, NULL, NULL, 0, FERRY_BATCH_QUERY, 64), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, &ret, &slot, 1, FERRY_BATCH_QUERY, 64), -EINVAL);
	assert_int_equal(ret, SENTINEL);
}

static void query_is_answered_when_all_else_is_0(void **state)
{
	(void)state;
	for_each_engine(answer_query);
}

static void refuse_impossible_arrays(enum ferry_engine engine)
{
	struct batch_slot slot = { .nr = SYS_getpid };
	void *unmapped = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long ret = SENTINEL;

	assert_true(unmapped != MAP_FAILED);
	assert_int_equal(ferry_batch_on(engine, &ret, &slot, BATCH_MAX_SLOTS + 1, 0, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, &ret, &slot, ULONG_MAX, 0, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, &ret, &slot, 1UL << 63, 0, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, &ret, NULL, 1, 0, 0), -EFAULT);
	assert_int_equal(ferry_batch_on(engine, &ret, unmapped, 1, 0, 0), -EFAULT);
	assert_int_equal(ferry_batch_on(engine, &ret, unmapped, BATCH_MAX_SLOTS, 0, 0), -EFAULT);
	assert_int_equal(ret, SENTINEL);
	assert_int_equal(munmap(unmapped, 4096), 0);
}

static void arrays_that_cannot_be_read_are_refused(void **state)
{
	(void)state;
	for_each_engine(refuse_impossible_arrays);
}

static void run_empty(enum ferry_engine engine)
{
	assert_int_equal(ferry_batch_on(engine, NULL, NULL, 0, 0, 0), 0);
	assert_int_equal(ferry_batch_on(engine, NULL, NULL, 0, 0, sizeof(struct batch_slot)), 0);
}

static void empty_batch_returns_0(void **state)
{
	(void)state;
	for_each_engine(run_empty);
}

static void no_engine_runs_nothing(void **state)
{
	struct batch_slot slot = { .nr = SYS_getpid };
	long ret = SENTINEL;

	(void)state;
	assert_int_equal(ferry_batch_on(FERRY_ENGINES, &ret, &slot, 1, 0, 0), -EINVAL);
	assert_int_equal(ferry_batch_on((enum ferry_engine) - 1, &ret, &slot, 1, 0, 0), -EINVAL);
	assert_int_equal(ret, SENTINEL);
}

static void run_absent(enum ferry_engine engine, bool falls_back)
{
	struct batch_slot slot = { .nr = SYS_getpid };
	long ret = SENTINEL;
	long result = ferry_batch_on(engine, &ret, &slot, 1, 0, 0);

	if (falls_back) {
		assert_int_equal(result, 0);
		assert_int_equal(ret, getpid());
		return;
	}
	assert_true(result < 0);
	assert_int_equal(ret, SENTINEL);
}

static void absent_engines_run_nothing_or_fall_back_to_the_loop(void **state)
{
	(void)state;
	for (int engine = FERRY_AUTO; engine < FERRY_ENGINES; engine++)
		if (ferry_engine_probe(engine, NULL))
			run_absent(engine, engine == FERRY_DEVICE);
}

#define TEST(name) cmocka_unit_test_setup(name, clear_environment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_engine_has_a_name_that_leads_back_to_it),
		TEST(no_other_name_or_number_is_an_engine),
		TEST(probe_says_why),
		TEST(auto_is_in_use_until_something_else_is_said),
		TEST(batch_emul_means_the_loop),
		TEST(environment_names_an_engine),
		TEST(environment_that_names_no_engine_is_an_error),
		TEST(use_works_whatever_the_environment_says),
		TEST(use_of_an_absent_engine_leaves_the_choice),
		TEST(auto_has_the_fewest_crossings),
		TEST(flags_and_sizes_of_the_future_are_refused),
		TEST(query_is_answered_when_all_else_is_0),
		TEST(arrays_that_cannot_be_read_are_refused),
		TEST(empty_batch_returns_0),
		TEST(no_engine_runs_nothing),
		TEST(absent_engines_run_nothing_or_fall_back_to_the_loop),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* Engines: names, selection by environment and by call, and what ferry_batch() refuses. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include <ferry.h>

#include "child.h"
#include "lib/engine/uring_trial.h"

#define SENTINEL 0x5ca1ab1eL
#define QUERY_ANSWER \
	(FERRY_ABI_VERSION | (FERRY_FEATURE_WDCPY | FERRY_FEATURE_FORWARD) << FERRY_FEATURE_SHIFT)

static int clear_environment(void **state)
{
	(void)state;
	return unsetenv("BATCH_EMUL") || unsetenv("FERRY_ENGINE");
}

/* ---- names ---- */

static void every_engine_has_a_name_that_leads_back_to_it(void **state)
{
	static const char *const names[FERRY_ENGINES] = { "auto", "loop", "uring", "device",
							  "syscall" };

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
	struct ferry_slot slot = { .nr = SYS_getpid };
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

static void auto_names_an_engine_that_is_there(void **state)
{
	struct ferry_slot calls[128];
	const char *why;

	(void)state;
	for (size_t i = 0; i < 128; i++)
		calls[i] = (struct ferry_slot){ .nr = i < 64 ? SYS_getpid : SYS_write };
	for (unsigned long ncall = 0; ncall <= 128; ncall += 64) {
		enum ferry_engine engine = ferry_engine_for(calls, ncall, &why);

		assert_int_not_equal(engine, FERRY_AUTO);
		assert_int_equal(ferry_engine_probe(engine, NULL), 0);
		assert_true(strlen(why) > 0);
		assert_int_equal(ferry_engine_for(calls, ncall, NULL), engine);
	}
}

/* ---- the trial of auto ---- */

static bool has_ring(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	bool found = false;

	while (!found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[io_uring]");
	fclose(maps);
	return found;
}

static void run_writes(enum ferry_engine engine, int fd, int batches)
{
	struct ferry_slot calls[64];
	long rets[64];

	for (int i = 0; i < 64; i++)
		calls[i] = (struct ferry_slot){ .nr = SYS_write,
						.argc = 3,
						.arg = { fd, (long)"x", 1 } };
	while (batches--) {
		CHILD_ASSERT(ferry_batch_on(engine, rets, calls, 64, 0, 0) == 63);
		for (int i = 0; i < 64; i++)
			CHILD_ASSERT(rets[i] == 1);
	}
}

static void make_ring_when_it_pays(void)
{
	int fd = open("/dev/null", O_WRONLY);

	run_writes(FERRY_AUTO, fd, (int)URING_TRIAL_SLOTS / 64);
	CHILD_ASSERT(!has_ring());
	CHILD_ASSERT(ferry__uring_trial_way(false) == URING_BY_RING);
	CHILD_ASSERT(ferry__uring_trial_way(true) == URING_BY_LOOP);
	run_writes(FERRY_AUTO, fd, (int)URING_TRIAL_SLOTS / 64);
	CHILD_ASSERT(has_ring());
	CHILD_ASSERT(!ferry__uring_trial_start(false));
	run_writes(FERRY_AUTO, fd, 10);
}

static void use_all_keys(void)
{
	pthread_key_t first, another;

	CHILD_ASSERT(!pthread_key_create(&first, NULL));
	while (!pthread_key_create(&another, NULL))
		;
	CHILD_ASSERT(!pthread_setspecific(first, &first));
	run_writes(FERRY_URING, open("/dev/null", O_WRONLY), 1);
	CHILD_ASSERT(pthread_getspecific(first) == &first);
}

/* Only in a process that has made no ring yet. */
static void a_process_without_free_keys_keeps_its_own(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(use_all_keys);
}

static void make_ring_at_once(void)
{
	run_writes(FERRY_URING, open("/dev/null", O_WRONLY), 1);
	CHILD_ASSERT(has_ring());
}

static void auto_makes_a_ring_when_it_pays(void **state)
{
	(void)state;
	if (ferry_engine_for(NULL, 0, NULL) != FERRY_LOOP || child_status(make_ring_at_once))
		skip();
	ASSERT_IN_CHILD(make_ring_when_it_pays);
}

static void trial_keeps_the_faster_way(void **state)
{
	long now = ferry__uring_trial_start(true);

	(void)state;
	assert_int_equal(ferry__uring_trial_way(true), URING_BY_LOOP);
	ferry__uring_trial_note(true, URING_BY_LOOP, URING_TRIAL_SLOTS, now - 1000000000);
	assert_int_equal(ferry__uring_trial_way(true), URING_BY_RING);
	ferry__uring_trial_note(true, URING_BY_RING, URING_TRIAL_SLOTS, now - 2000000000L);
	assert_int_equal(ferry__uring_trial_way(true), URING_BY_LOOP);
	ferry__uring_trial_note(true, URING_BY_RING, 64, now);
	assert_int_equal(ferry__uring_trial_way(true), URING_BY_RING);
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
	struct ferry_slot slot = { .nr = SYS_getpid };
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
	struct ferry_slot slot = { .nr = SYS_getpid };
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
	struct ferry_slot slot = { .nr = SYS_getpid };
	void *unmapped = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long ret = SENTINEL;

	assert_true(unmapped != MAP_FAILED);
	assert_int_equal(ferry_batch_on(engine, &ret, &slot, FERRY_MAX_SLOTS + 1, 0, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, &ret, &slot, ULONG_MAX, 0, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, &ret, &slot, 1UL << 63, 0, 0), -EINVAL);
	assert_int_equal(ferry_batch_on(engine, &ret, NULL, 1, 0, 0), -EFAULT);
	assert_int_equal(ferry_batch_on(engine, &ret, unmapped, 1, 0, 0), -EFAULT);
	assert_int_equal(ferry_batch_on(engine, &ret, unmapped, FERRY_MAX_SLOTS, 0, 0), -EFAULT);
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
	assert_int_equal(ferry_batch_on(engine, NULL, NULL, 0, 0, sizeof(struct ferry_slot)), 0);
}

static void empty_batch_returns_0(void **state)
{
	(void)state;
	for_each_engine(run_empty);
}

static void no_engine_runs_nothing(void **state)
{
	struct ferry_slot slot = { .nr = SYS_getpid };
	long ret = SENTINEL;

	(void)state;
	assert_int_equal(ferry_batch_on(FERRY_ENGINES, &ret, &slot, 1, 0, 0), -EINVAL);
	assert_int_equal(ferry_batch_on((enum ferry_engine) - 1, &ret, &slot, 1, 0, 0), -EINVAL);
	assert_int_equal(ret, SENTINEL);
}

static void run_absent(enum ferry_engine engine, bool falls_back)
{
	struct ferry_slot slot = { .nr = SYS_getpid };
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
			run_absent(engine, engine == FERRY_URING || engine == FERRY_DEVICE);
}

#define TEST(name) cmocka_unit_test_setup(name, clear_environment)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_process_without_free_keys_keeps_its_own),
		TEST(every_engine_has_a_name_that_leads_back_to_it),
		TEST(no_other_name_or_number_is_an_engine),
		TEST(probe_says_why),
		TEST(auto_is_in_use_until_something_else_is_said),
		TEST(batch_emul_means_the_loop),
		TEST(environment_names_an_engine),
		TEST(environment_that_names_no_engine_is_an_error),
		TEST(use_works_whatever_the_environment_says),
		TEST(use_of_an_absent_engine_leaves_the_choice),
		TEST(auto_names_an_engine_that_is_there),
		TEST(auto_makes_a_ring_when_it_pays),
		TEST(trial_keeps_the_faster_way),
		TEST(flags_and_sizes_of_the_future_are_refused),
		TEST(query_is_answered_when_all_else_is_0),
		TEST(arrays_that_cannot_be_read_are_refused),
		TEST(empty_batch_returns_0),
		TEST(no_engine_runs_nothing),
		TEST(absent_engines_run_nothing_or_fall_back_to_the_loop),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}

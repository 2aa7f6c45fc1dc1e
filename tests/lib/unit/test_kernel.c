// SPDX-License-Identifier: MIT
/*
 * <linux/batch.h> and the library on kernels with the batch system call, with another
 * version of it, and without it.  The kernel is a fake.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <ferry.h>
#include <linux/batch.h>

#include "tests/unit.h"
#include "child.h"
#include "fake_kernel.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define SENTINEL 0x5ca1ab1eL
#define SLOTS 8

/* ---- a program with all features: jumps, forwarding, word copies, every result ---- */

struct sample {
	syscall_t calls[SLOTS];
	long rets[SLOTS];
	long copied;
};

static void make_sample(struct sample *sample)
{
	const syscall_t calls[SLOTS] = {
		scall0(getpid, 0, 0, 1),
		scall0(getppid, 0, 0, 0),
		scall2(wdcpy, -1, 0, 0, &sample->calls[4].arg[0], &sample->rets[0]),
		{ -1, 0, 0, 0, 0, { 0 } },
		scall1(getpgid, -1, -1, 0, -1),
		scall2(wdcpy, -1, 0, 0, &sample->copied, &sample->rets[4]),
		{ __NR_exit, 0, 0, 0, 1, { 7 } },
		scall1(getpgid, 0, 0, 0, 0),
	};

	memcpy(sample->calls, calls, sizeof(calls));
	((struct batch_slot *)sample->calls)[7].argc |= BATCH_ARGC_FORWARD;
	((struct batch_slot *)sample->calls)[7].from[0] = 7;
	for (int i = 0; i < SLOTS; i++)
		sample->rets[i] = SENTINEL;
	sample->copied = 0;
}

static bool ran_well(const struct sample *sample, long last)
{
	const long group = getpgid(0);
	const long expected[SLOTS] = { getpid(), SENTINEL, 0, -ENOSYS, group, 0, -ENOSYS, group };

	return last == SLOTS - 1 && sample->copied == group &&
	       !memcmp(sample->rets, expected, sizeof(expected));
}

/* ---- <linux/batch.h> ---- */

static void run_by_header(void)
{
	struct sample sample;

	for (int i = 0; i < 2; i++) {
		make_sample(&sample);
		CHILD_ASSERT(ran_well(&sample, batch(sample.rets, sample.calls, SLOTS, 0, 0)));
	}
}

static void header_on_a_kernel_with_batch(void)
{
	fake_kernel_install();
	run_by_header();
	CHILD_ASSERT(fake_kernel_crossings == 2);
	CHILD_ASSERT(batch(NULL, NULL, 0, FERRY_BATCH_QUERY, 0) == FAKE_KERNEL_RIGHT);
	CHILD_ASSERT(batch(NULL, NULL, BATCH_MAX_SLOTS + 1, 2, 0) == -1 && errno == EINVAL);
}

static void header_without_crossing(void)
{
	fake_kernel_install();
	run_by_header();
	CHILD_ASSERT(fake_kernel_crossings == 0);
	CHILD_ASSERT(batch(NULL, NULL, 0, FERRY_BATCH_QUERY, 0) == FAKE_KERNEL_RIGHT);
}

/* What BODY, in a child, writes to standard error. */
static void capture_stderr(void (*body)(void), char text[], size_t room)
{
	int fds[2];
	pid_t child;
	ssize_t got;
	size_t length = 0;
	int status;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		CHILD_ASSERT(dup2(fds[1], STDERR_FILENO) == STDERR_FILENO);
		close(fds[1]);
		body();
		_exit(0);
	}
	assert_true(child > 0);
	close(fds[1]);
	while (length + 1 < room && (got = read(fds[0], text + length, room - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void assert_header_says(void (*body)(void), const char *expected)
{
	char text[256];

	capture_stderr(body, text, sizeof(text));
	assert_string_equal(text, expected);
}

static int clear_environment(void **state)
{
	(void)state;
	fake_kernel_answer = FAKE_KERNEL_RIGHT;
	return unsetenv("BATCH_EMUL") || unsetenv("BATCH_VERBOSE") || unsetenv("FERRY_ENGINE");
}

#define CLEAN_TEST(name) TEST_BETWEEN(name, clear_environment, NULL)

CLEAN_TEST(header_makes_the_system_call_where_there_is_one)
{
	assert_int_equal(setenv("BATCH_VERBOSE", "", 1), 0);
	assert_header_says(header_on_a_kernel_with_batch, "sys_batch Real\n");
}

CLEAN_TEST(header_loops_where_told_to)
{
	assert_int_equal(setenv("BATCH_VERBOSE", "1", 1), 0);
	assert_int_equal(setenv("BATCH_EMUL", "", 1), 0);
	assert_header_says(header_without_crossing, "sys_batch Emul\n");
}

CLEAN_TEST(header_loops_where_the_kernel_has_no_batch)
{
	assert_int_equal(setenv("BATCH_VERBOSE", "1", 1), 0);
	fake_kernel_answer = -ENOSYS;
	assert_header_says(header_without_crossing, "sys_batch Emul\n");
}

CLEAN_TEST(header_says_nothing_unless_asked)
{
	assert_header_says(header_on_a_kernel_with_batch, "");
	fake_kernel_answer = -ENOSYS;
	assert_header_says(header_without_crossing, "");
}

/* Answers with other versions of the ABI. */
static const long foreign[] = {
	BATCH_VERSION + 1,
	(BATCH_VERSION + 1) | 3L << BATCH_FEATURE_SHIFT,
	3L << BATCH_FEATURE_SHIFT,
	0x12345600 | 0xff,
	LONG_MAX,
	0,
	-1,
	-ENOSYS,
	-4096,
	LONG_MIN,
	LONG_MIN | BATCH_VERSION,
};

CLEAN_TEST(header_refuses_kernels_that_answer_otherwise)
{
	assert_int_equal(setenv("BATCH_VERBOSE", "1", 1), 0);
	for (size_t i = 0; i < LENGTH(foreign); i++) {
		fake_kernel_answer = foreign[i];
		assert_header_says(header_without_crossing, "sys_batch Emul\n");
	}
}

/* ---- the library ---- */

static void library_on_a_kernel_with_batch(void)
{
	const char *why = NULL;
	struct sample sample;
	const struct batch_slot *calls = (const struct batch_slot *)sample.calls;

	fake_kernel_install();
	CHILD_ASSERT(ferry_engine_probe(FERRY_SYSCALL, &why) == 0);
	CHILD_ASSERT(why && *why);
	CHILD_ASSERT(ferry_engine_in_use() == FERRY_AUTO);
	make_sample(&sample);
	CHILD_ASSERT(ferry_engine_auto(NULL) == FERRY_SYSCALL);
	CHILD_ASSERT(ran_well(&sample, ferry_batch(sample.rets, calls, SLOTS, 0, 0)));
	CHILD_ASSERT(fake_kernel_crossings == 1);
	make_sample(&sample);
	CHILD_ASSERT(ran_well(&sample, ferry_batch_on(FERRY_SYSCALL, sample.rets, calls, SLOTS, 0,
						      sizeof(*calls))));
	CHILD_ASSERT(fake_kernel_crossings == 2);
	CHILD_ASSERT(ferry_engine_use(FERRY_LOOP) == 0);
	make_sample(&sample);
	CHILD_ASSERT(ran_well(&sample, ferry_batch(sample.rets, calls, SLOTS, 0, 0)));
	CHILD_ASSERT(fake_kernel_crossings == 2);
	CHILD_ASSERT(ferry_engine_use(FERRY_SYSCALL) == 0);
	CHILD_ASSERT(ferry_engine_in_use() == FERRY_SYSCALL);
}

CLEAN_TEST(auto_takes_the_system_call_where_there_is_one)
{
	ASSERT_IN_CHILD(library_on_a_kernel_with_batch);
}

static void run_with_a_slot_refused(void)
{
	const long refuses = fake_kernel_refuses;
	struct sample sample;
	const struct batch_slot *calls = (const struct batch_slot *)sample.calls;

	fake_kernel_install();
	make_sample(&sample);
	CHILD_ASSERT(ran_well(&sample, batch(sample.rets, sample.calls, SLOTS, 0, 0)));
	fake_kernel_refuses = refuses;
	make_sample(&sample);
	CHILD_ASSERT(ran_well(&sample, ferry_batch(sample.rets, calls, SLOTS, 0, 0)));
	/* After a result that was not stored, the kernel runs the rest. */
	if (fake_kernel_state == BATCH_STORE && refuses < SLOTS - 1)
		CHILD_ASSERT(fake_kernel_crossings == 4);
	else
		CHILD_ASSERT(fake_kernel_crossings == 2);
}

CLEAN_TEST(the_loop_goes_on_where_the_kernel_refuses)
{
	static const long slots[] = { 0, 2, 3, SLOTS - 1 };
	static const long answers[] = { -ENOSYS, -EPERM, -EACCES, -EOPNOTSUPP };

	for (size_t i = 0; i < LENGTH(slots) * LENGTH(answers); i++) {
		fake_kernel_refuses = slots[i / LENGTH(answers)];
		fake_kernel_refusal = answers[i % LENGTH(answers)];
		ASSERT_IN_CHILD(run_with_a_slot_refused);
	}
	fake_kernel_refuses = -1;
}

CLEAN_TEST(user_space_ends_the_slot_that_the_kernel_left)
{
	static const long slots[] = { 0, 2, 3, SLOTS - 1 };
	static const unsigned long states[] = { BATCH_CALL, BATCH_STORE, BATCH_ANSWER };

	for (size_t i = 0; i < LENGTH(slots) * LENGTH(states); i++) {
		fake_kernel_refuses = slots[i / LENGTH(states)];
		fake_kernel_refusal = -EOPNOTSUPP;
		fake_kernel_state = states[i % LENGTH(states)];
		ASSERT_IN_CHILD(run_with_a_slot_refused);
	}
	fake_kernel_refuses = -1;
	fake_kernel_state = BATCH_BEGIN;
}

/* A filter that came after the first batch forbids the call, so nothing begins. */
static void run_without_a_kernel_that_answers(void)
{
	struct sample sample;

	fake_kernel_install();
	run_by_header();
	fake_kernel_refuses = 0;
	fake_kernel_refusal = -EPERM;
	run_by_header();
	CHILD_ASSERT(batch(NULL, NULL, 0, 0, 0) == 0);
	make_sample(&sample);
	CHILD_ASSERT(batch(sample.rets, NULL, 1, 0, 0) == -1 && errno == EFAULT);
	CHILD_ASSERT(batch(sample.rets, sample.calls, BATCH_MAX_SLOTS + 1, 0, 0) == -1);
	CHILD_ASSERT(errno == EINVAL);
}

CLEAN_TEST(the_loop_runs_where_a_filter_forbids_batch)
{
	ASSERT_IN_CHILD(run_without_a_kernel_that_answers);
}

static void junk_in_flags_and_size_is_ignored(void)
{
	struct sample sample;

	make_sample(&sample);
	CHILD_ASSERT(ran_well(&sample, batch(sample.rets, sample.calls, SLOTS, -1, 77)));
	make_sample(&sample);
	CHILD_ASSERT(ran_well(&sample, batch(sample.rets, sample.calls, SLOTS, 1, 1L << 40)));
}

CLEAN_TEST(header_ignores_what_the_original_ignores)
{
	ASSERT_IN_CHILD(junk_in_flags_and_size_is_ignored);
	assert_int_equal(setenv("BATCH_EMUL", "", 1), 0);
	ASSERT_IN_CHILD(junk_in_flags_and_size_is_ignored);
}

static void library_with_the_system_call_by_name(void)
{
	fake_kernel_install();
	CHILD_ASSERT(ferry_engine_in_use() == FERRY_SYSCALL);
}

CLEAN_TEST(environment_can_name_the_system_call)
{
	assert_int_equal(setenv("FERRY_ENGINE", "syscall", 1), 0);
	ASSERT_IN_CHILD(library_with_the_system_call_by_name);
}

static void library_on_a_foreign_kernel(void)
{
	const char *why = NULL;
	struct sample sample;
	const struct batch_slot *calls = (const struct batch_slot *)sample.calls;

	fake_kernel_install();
	CHILD_ASSERT(ferry_engine_probe(FERRY_SYSCALL, &why) < 0);
	CHILD_ASSERT(why && *why);
	CHILD_ASSERT(ferry_engine_use(FERRY_SYSCALL) < 0);
	CHILD_ASSERT(ferry_engine_in_use() == FERRY_AUTO);
	make_sample(&sample);
	CHILD_ASSERT(ferry_engine_auto(NULL) != FERRY_SYSCALL);
	CHILD_ASSERT(ran_well(&sample, ferry_batch(sample.rets, calls, SLOTS, 0, 0)));
	CHILD_ASSERT(fake_kernel_crossings == 0);
}

CLEAN_TEST(library_refuses_kernels_that_answer_otherwise)
{
	for (size_t i = 0; i < LENGTH(foreign); i++) {
		fake_kernel_answer = foreign[i];
		ASSERT_IN_CHILD(library_on_a_foreign_kernel);
	}
}

TEST_MAIN

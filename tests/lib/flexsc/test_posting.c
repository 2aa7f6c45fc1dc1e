// SPDX-License-Identifier: MIT
/* Which calls of user-level threads are posted, and when that wakes the runner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "tests/lib/unit/child.h"

#define THREADS 64

static void run_threads(struct ferry_flexsc *flexsc, int count, void *(*start)(void *),
			void *argument)
{
	struct ferry_thread *threads[THREADS];
	int i;

	for (i = 0; i < count; i++)
		assert_int_equal(ferry_thread_spawn(&threads[i], flexsc, start, argument), 0);
	for (i = 0; i < count; i++)
		ferry_thread_join(threads[i], NULL);
}

static bool has_one_cpu(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) == 1;
}

/* How often the thread called ferry-runner has waited. */
static long waits_of_runner(void)
{
	char command[128];
	long waits = -1;
	FILE *status;

	snprintf(command, sizeof(command),
		 "cat $(grep -lx ferry-runner /proc/%d/task/*/comm | sed s/comm/status/) | "
		 "sed -n 's/^voluntary_ctxt_switches:\\t//p'",
		 getpid());
	status = popen(command, "r");
	if (!status || fscanf(status, "%ld", &waits) != 1)
		waits = -1;
	if (status)
		pclose(status);
	return waits;
}

/* ---- calls that never wait ---- */

static void *call_now_and_then(void *null)
{
	int i;

	for (i = 0; i < 20; i++) {
		ferry_getpid();
		ferry_write(*(int *)null, "x", 1);
		ferry_thread_sleep(200000);
	}
	return NULL;
}

/* It may still be about to fall asleep for the first time. */
static void a_call_now_and_then_does_not_wake_the_runner(void **state)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	long before;

	if (crossings_are_slow())
		skip();
	before = waits_of_runner();
	run_threads(*state, 4, call_now_and_then, &null);
	assert_in_range(waits_of_runner(), before, before + 1);
	close(null);
}

#define MOST_NS 10000000000L

static void *call_until_posted(void *flexsc)
{
	long start = now_ns(), before = ferry_flexsc_cpu_ns(flexsc);
	int i;

	while (ferry_flexsc_cpu_ns(flexsc) == before && now_ns() - start < MOST_NS)
		for (i = 0; i < 1000; i++)
			assert_int_equal(ferry_getpid(), getpid());
	return NULL;
}

static void calls_close_to_each_other_are_posted(void **state)
{
	long before = ferry_flexsc_cpu_ns(*state);

	if (has_one_cpu())
		skip();
	run_threads(*state, 4, call_until_posted, *state);
	assert_true(ferry_flexsc_cpu_ns(*state) > before);
}

/* ---- reading files ---- */

static const char text[] = "what is in the file";

static void *read_file(void *argument)
{
	int file = *(int *)argument;
	char data[64] = "";

	assert_int_equal(ferry_pread(file, data, 4, 5), 4);
	assert_string_equal(data, "is i");
	assert_int_equal(ferry_pread(file, data, sizeof(data), 0), sizeof(text));
	assert_string_equal(data, text);
	assert_int_equal(ferry_pread(file, data, sizeof(data), sizeof(text)), 0);
	assert_int_equal(ferry_pread(file, data, 0, 0), 0);
	assert_int_equal(ferry_pread(file, data, 1, -1), -EINVAL);
	assert_int_equal(ferry_pread(file, (void *)8, 1, 0), -EFAULT);
	assert_int_equal(ferry_pread(-1, data, 1, 0), -EBADF);
	/* The file's own position stays. */
	assert_int_equal(ferry_thread_call3(SYS_lseek, file, 0, SEEK_CUR), sizeof(text));
	return NULL;
}

static void files_are_read_as_by_plain_calls(void **state)
{
	FILE *file = tmpfile();
	int fd = fileno(file);

	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	run_threads(*state, 4, read_file, &fd);
	fclose(file);
}

static void *read_pipe_at(void *fd)
{
	char byte;

	assert_int_equal(ferry_pread(*(int *)fd, &byte, 1, 0), -ESPIPE);
	return NULL;
}

static void a_pipe_has_no_positions(void **state)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	run_threads(*state, 4, read_pipe_at, &fds[0]);
	close(fds[0]);
	close(fds[1]);
}

/* ---- a single CPU ---- */

#define ROUNDS 50

/* A call that may wait, but fails at once. */
static void *call_that_may_wait(void *argument)
{
	int i;

	(void)argument;
	for (i = 0; i < ROUNDS; i++)
		CHILD_ASSERT(ferry_fdatasync(-1) == -EBADF);
	return NULL;
}

static void many_calls_take_two_switches(void)
{
	struct ferry_flexsc *flexsc;
	long before, after;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	CHILD_ASSERT(!sched_setaffinity(0, sizeof(cpus), &cpus));
	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	before = waits_of_runner();
	run_threads(flexsc, THREADS, call_that_may_wait, NULL);
	after = waits_of_runner();
	CHILD_ASSERT(before >= 0 && after - before < THREADS * ROUNDS / 4);
	CHILD_ASSERT(!ferry_flexsc_stop(flexsc));
}

static void on_one_cpu_the_runner_is_woken_once_for_many_calls(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(many_calls_take_two_switches);
}

static void *call_a_while(void *argument)
{
	long end = now_ns() + 20000000L;

	(void)argument;
	while (now_ns() < end)
		ferry_thread_yield();
	return NULL;
}

static void *call_once(void *took)
{
	long start = now_ns();

	ferry_fdatasync(-1);
	*(long *)took = now_ns() - start;
	return NULL;
}

/* Others can go on all the time, but the call does not wait for them. */
static void call_beside_others(void)
{
	struct ferry_thread *busy, *caller;
	struct ferry_flexsc *flexsc;
	long took = 0;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	CHILD_ASSERT(!sched_setaffinity(0, sizeof(cpus), &cpus));
	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	do {
		ferry_thread_spawn(&busy, flexsc, call_a_while, NULL);
		ferry_thread_spawn(&caller, flexsc, call_once, &took);
		ferry_thread_join(caller, NULL);
		ferry_thread_join(busy, NULL);
	} while (took > 15000000L); /* the whole process may wait for its CPU */
	CHILD_ASSERT(!ferry_flexsc_stop(flexsc));
}

static void on_one_cpu_calls_are_made_while_others_run(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(call_beside_others);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_call_now_and_then_does_not_wake_the_runner,
						with_defaults, stop),
		cmocka_unit_test_setup_teardown(calls_close_to_each_other_are_posted, with_defaults,
						stop),
		cmocka_unit_test_setup_teardown(files_are_read_as_by_plain_calls, with_defaults,
						stop),
		cmocka_unit_test_setup_teardown(a_pipe_has_no_positions, with_defaults, stop),
		cmocka_unit_test(on_one_cpu_the_runner_is_woken_once_for_many_calls),
		cmocka_unit_test(on_one_cpu_calls_are_made_while_others_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

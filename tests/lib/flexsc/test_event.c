// SPDX-License-Identifier: MIT
/* Single calls that an event loop waits for together with other descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fixture.h"
#include "tests/lib/unit/child.h"
#include "tests/lib/unit/thread_count.h"

/* An event loop waits so long for an event that is due. */
#define TIMEOUT_MS 20000

struct loop {
	struct ferry_flexsc *flexsc;
	int epoll, eventfd;
};

static void add(const struct loop *loop, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	assert_int_equal(epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event), 0);
}

static struct loop loop_on(struct ferry_flexsc *flexsc)
{
	struct loop loop = { flexsc, epoll_create1(EPOLL_CLOEXEC), ferry_flexsc_eventfd(flexsc) };

	assert_true(loop.eventfd >= 0);
	add(&loop, loop.eventfd);
	return loop;
}

static long post(const struct loop *loop, long nr, long a, long b, long c)
{
	long ticket = ferry_flexsc_post(loop->flexsc, nr, (const long[]){ a, b, c }, 3);

	assert_true(ticket >= 0);
	return ticket;
}

/* Waits for an event and returns its descriptor; reads the eventfd's counter. */
static int wait_for_event(const struct loop *loop)
{
	struct epoll_event event;
	uint64_t count;

	assert_int_equal(epoll_wait(loop->epoll, &event, 1, TIMEOUT_MS), 1);
	if (event.data.fd == loop->eventfd)
		assert_int_equal(read(loop->eventfd, &count, sizeof(count)), sizeof(count));
	return event.data.fd;
}

static void an_event_means_that_the_call_is_done(void **state)
{
	struct loop loop = loop_on(*state);
	long ticket, result;
	int i;

	for (i = 0; i < 2000; i++) {
		ticket = post(&loop, i % 2 ? SYS_getpid : SYS_gettid, 0, 0, 0);
		assert_int_equal(wait_for_event(&loop), loop.eventfd);
		assert_int_equal(ferry_flexsc_poll(*state, ticket, &result), 1);
		assert_int_equal(result, i % 2 ? getpid() : gettid());
	}
	close(loop.epoll);
}

static void the_eventfd_stays_the_same(void **state)
{
	assert_int_equal(ferry_flexsc_eventfd(*state), ferry_flexsc_eventfd(*state));
}

/* ---- an event loop ---- */

#define CALLS 60

/*
 * Calls that are done at once, and reads that block until the loop writes: it does so when it finds
 * another pipe readable, which each of the first calls writes to.
 */
static void a_loop_waits_for_calls_and_descriptors(void **state)
{
	struct loop loop = loop_on(*state);
	int here[2], there[2], pending = 2 * CALLS, i;
	long tickets[2 * CALLS], result;
	char data[2 * CALLS], byte;

	assert_int_equal(pipe(here), 0);
	assert_int_equal(pipe(there), 0);
	add(&loop, here[0]);
	for (i = 0; i < CALLS; i++) {
		tickets[i] = post(&loop, SYS_read, there[0], (long)&data[i], 1);
		tickets[CALLS + i] = post(&loop, SYS_write, here[1], (long)"x", 1);
	}
	while (pending) {
		if (wait_for_event(&loop) == here[0]) {
			assert_int_equal(read(here[0], &byte, 1), 1);
			assert_int_equal(write(there[1], "y", 1), 1);
		}
		for (i = 0; i < 2 * CALLS; i++) {
			if (tickets[i] < 0 || !ferry_flexsc_poll(*state, tickets[i], &result))
				continue;
			assert_int_equal(result, 1);
			tickets[i] = -1;
			pending--;
		}
	}
	for (i = 0; i < CALLS; i++)
		assert_int_equal(data[i], 'y');
	close(here[0]);
	close(here[1]);
	close(there[0]);
	close(there[1]);
	close(loop.epoll);
}

static void a_batch_behind_a_blocked_one_wakes_the_loop(void **state)
{
	struct loop loop = loop_on(*state);
	static const uint64_t one = 1;
	struct batch_slot blocks[1], signals[2];
	long rets[3], tickets[2], result;
	int there[2];
	char byte;

	assert_int_equal(pipe(there), 0);
	blocks[0] = (struct batch_slot){ .nr = SYS_read,
					 .argc = 3,
					 .arg = { there[0], (long)&byte, 1 } };
	signals[0] = (struct batch_slot){ .nr = SYS_getpid };
	signals[1] = (struct batch_slot){ .nr = SYS_write,
					  .argc = 3,
					  .arg = { loop.eventfd, (long)&one, sizeof(one) } };
	usleep(50000); /* by then the watcher sleeps; else this test would pass without a wake-up */
	tickets[0] = ferry_flexsc_post_batch(*state, rets, blocks, 1);
	tickets[1] = ferry_flexsc_post_batch(*state, rets + 1, signals, 2);
	/* The first event may be the watcher's; the batch signals just before it is done. */
	wait_for_event(&loop);
	if (!ferry_flexsc_poll(*state, tickets[1], &result))
		result = ferry_flexsc_wait(*state, tickets[1]);
	assert_int_equal(result, 1);
	assert_int_equal(rets[1], getpid());
	assert_int_equal(write(there[1], "y", 1), 1);
	ferry_flexsc_wait(*state, tickets[0]);
	assert_int_equal(rets[0], 1);
	close(there[0]);
	close(there[1]);
	close(loop.epoll);
}

/* ---- errors and ends ---- */

static void results_are_those_of_plain_calls(void **state)
{
	struct loop loop = loop_on(*state);

	assert_int_equal(ferry_flexsc_wait(*state, post(&loop, SYS_close, -1, 0, 0)), -EBADF);
	assert_int_equal(ferry_flexsc_wait(*state, post(&loop, SYS_exit, 0, 0, 0)), -ENOSYS);
	assert_int_equal(ferry_flexsc_wait(*state, post(&loop, 400, 0, 0, 0)), -ENOSYS);
	assert_int_equal(ferry_flexsc_post(*state, SYS_getpid, NULL, 7), -EINVAL);
	assert_int_equal(ferry_flexsc_call(*state, SYS_getpid, NULL, 0), getpid());
	close(loop.epoll);
}

/* The tests' teardown stops the runners. */
static void calls_may_be_left_uncollected(void **state)
{
	struct loop loop = loop_on(*state);
	int i;

	for (i = 0; i < 20; i++)
		post(&loop, SYS_getpid, 0, 0, 0);
	close(loop.epoll);
}

static struct ferry_flexsc *forked;

static void call_in_child(void)
{
	struct loop loop = loop_on(forked);
	long result;

	CHILD_ASSERT(ferry_flexsc_poll(forked, post(&loop, SYS_getpid, 0, 0, 0), &result) == 1);
	CHILD_ASSERT(result == getpid());
}

static void a_childs_calls_are_done_at_once(void **state)
{
	assert_true(ferry_flexsc_eventfd(*state) >= 0);
	forked = *state;
	ASSERT_IN_CHILD(call_in_child);
}

static void open_eventfd_in_child(void)
{
	int before = threads_of_process();

	call_in_child();
	CHILD_ASSERT(threads_of_process() == before);
	ferry_flexsc_stop(forked);
}

static void a_child_opens_its_own_eventfd(void **state)
{
	forked = *state;
	ASSERT_IN_CHILD(open_eventfd_in_child);
}

/* ---- restricted threads ---- */

static void post_and_unshare(void)
{
	struct ferry_flexsc *flexsc;
	struct loop loop;
	long result = 0;
	int i;

	CHILD_ASSERT(!ferry_flexsc_start(&flexsc, NULL));
	loop = loop_on(flexsc);
	for (i = 0; i < 2; i++) {
		long ticket = post(&loop, SYS_getpid, 0, 0, 0);

		CHILD_ASSERT(wait_for_event(&loop) == loop.eventfd);
		CHILD_ASSERT(ferry_flexsc_poll(flexsc, ticket, &result) == 1);
		CHILD_ASSERT(result == getpid());
		/* A runner in the kernel refuses the second call. */
		CHILD_ASSERT(!syscall(SYS_unshare, CLONE_FILES));
	}
	ferry_flexsc_stop(flexsc);
}

static void a_refused_call_wakes_the_loop(void **state)
{
	(void)state;
	ASSERT_IN_CHILD(post_and_unshare);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, with_defaults, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_event_means_that_the_call_is_done),
		TEST(the_eventfd_stays_the_same),
		TEST(a_loop_waits_for_calls_and_descriptors),
		TEST(a_batch_behind_a_blocked_one_wakes_the_loop),
		TEST(results_are_those_of_plain_calls),
		TEST(calls_may_be_left_uncollected),
		TEST(a_childs_calls_are_done_at_once),
		TEST(a_child_opens_its_own_eventfd),
		cmocka_unit_test(a_refused_call_wakes_the_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

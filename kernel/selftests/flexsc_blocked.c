// SPDX-License-Identifier: GPL-2.0
/* A runner whose call sleeps says so at once; and the eventfd of a set. */
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/prctl.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "flexsc_test.h"

FIXTURE(blocked)
{
	struct flexsc_set *set;
	struct runner runner;
	int ends[2];
};

FIXTURE_SETUP(blocked)
{
	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	ASSERT_TRUE(register_fence());
	ASSERT_EQ(0, pipe(self->ends));
	self->set = new_set(0);
	self->set->eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	ASSERT_LE(0, self->set->eventfd);
	start(&self->runner, self->set, NULL);
}

FIXTURE_TEARDOWN(blocked)
{
	if (self->set)
		EXPECT_EQ(0, stop(&self->runner));
}

/* Posts a read of an empty pipe. */
static struct flexsc_entry *post_read(struct flexsc_set *set, int end)
{
	static char byte;

	return post(set, 0, ENTRY(__NR_read, end, P(&byte), 1));
}

/* Whether the set's eventfd is signalled within MS milliseconds; resets it. */
static bool is_signalled(const struct flexsc_set *set, int ms)
{
	struct pollfd event = { .fd = set->eventfd, .events = POLLIN };
	eventfd_t count;

	return poll(&event, 1, ms) == 1 && !eventfd_read(set->eventfd, &count);
}

TEST_F(blocked, the_kernel_offers_reports_of_sleeping_calls)
{
	EXPECT_TRUE(flexsc_register(NULL, 0) >> BATCH_FEATURE_SHIFT & FLEXSC_FEATURE_BLOCKED);
}

TEST_F(blocked, a_call_that_sleeps_is_reported_until_it_ends)
{
	struct flexsc_entry *entry;
	int i;

	for (i = 0; i < 100; i++) {
		entry = post_read(self->set, self->ends[0]);
		wait_while(LOAD(self->set->runner) != FLEXSC_RUNNER_BLOCKED);
		ASSERT_EQ(FLEXSC_ENTRY_SUBMITTED, LOAD(entry->status));
		ASSERT_EQ(1, write(self->ends[1], "x", 1));
		ASSERT_EQ(1, collect(entry));
		ASSERT_NE(FLEXSC_RUNNER_BLOCKED, LOAD(self->set->runner));
	}
}

TEST_F(blocked, calls_that_do_not_sleep_are_not_reported)
{
	int i;

	STORE(self->set->alert, 1);
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
		ASSERT_NE(FLEXSC_RUNNER_BLOCKED, LOAD(self->set->runner));
	}
	/* Nor is the sleep of a runner without calls. */
	wait_until_idle(&self->runner);
	EXPECT_FALSE(is_signalled(self->set, 0));
}

TEST_F(blocked, a_thread_that_sleeps_can_be_alerted)
{
	struct flexsc_entry *entry;
	int i;

	for (i = 0; i < 100; i++) {
		STORE(self->set->alert, 1);
		entry = post_read(self->set, self->ends[0]);
		ASSERT_TRUE(is_signalled(self->set, 5000));
		ASSERT_EQ(FLEXSC_RUNNER_BLOCKED, LOAD(self->set->runner));
		STORE(self->set->alert, 0);
		ASSERT_EQ(1, write(self->ends[1], "x", 1));
		ASSERT_EQ(1, collect(entry));
		ASSERT_FALSE(is_signalled(self->set, 0));
	}
}

TEST_F(blocked, without_an_alert_nothing_is_signalled)
{
	struct flexsc_entry *entry = post_read(self->set, self->ends[0]);

	wait_until_blocked(&self->runner, entry);
	EXPECT_EQ(FLEXSC_RUNNER_BLOCKED, LOAD(self->set->runner));
	EXPECT_FALSE(is_signalled(self->set, 0));
	ASSERT_EQ(1, write(self->ends[1], "x", 1));
	EXPECT_EQ(1, collect(entry));
	EXPECT_FALSE(is_signalled(self->set, 0));
}

TEST_F(blocked, a_result_that_is_waited_for_is_signalled)
{
	struct flexsc_entry *entry, call = ENTRY(__NR_getpid);
	int i;

	call.argc |= FLEXSC_ARGC_WAITED;
	for (i = 0; i < 1000; i++) {
		entry = post(self->set, i % COUNT, call);
		ASSERT_TRUE(is_signalled(self->set, 5000));
		ASSERT_EQ(FLEXSC_ENTRY_DONE, LOAD(entry->status));
		ASSERT_EQ(THIS_PROCESS, collect(entry));
	}
	call.result = 0;
	entry = post(self->set, 0, call);
	EXPECT_TRUE(is_signalled(self->set, 5000));
	EXPECT_EQ(REFUSED, collect(entry));
}

/* The calls behind one that blocks are made by another runner, of another set. */
TEST_F(blocked, calls_behind_one_that_sleeps_can_be_moved)
{
	struct flexsc_set *other = new_set(0);
	struct flexsc_entry *read_call, *behind;
	struct runner runner;

	start(&runner, other, NULL);
	STORE(self->set->alert, 1);
	read_call = post_read(self->set, self->ends[0]);
	behind = post(self->set, 1, ENTRY(__NR_write, self->ends[1], P("x"), 1));
	ASSERT_TRUE(is_signalled(self->set, 5000));
	STORE(self->set->gate, FLEXSC_GATE_CLOSED);
	own_call(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0);
	ASSERT_EQ(0, LOAD(behind->begun));
	ASSERT_EQ(FLEXSC_ENTRY_SUBMITTED, LOAD(behind->status));
	STORE(behind->status, FLEXSC_ENTRY_FREE);
	STORE(self->set->gate, FLEXSC_GATE_OPEN);
	EXPECT_EQ(1, made(other, *behind));
	EXPECT_EQ(1, collect(read_call));
	EXPECT_EQ(0, stop(&runner));
}

/* The thread ends in its call, and sleeps when it closes the last descriptor of an inotify. */
static void *serve_and_die(void *set)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	if (unshare(CLONE_FILES) || inotify_add_watch(inotify_init1(0), "/", IN_CREATE) < 0)
		return set;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	post(set, 0, ENTRY(__NR_getppid));
	flexsc_serve(set);
	return set;
}

/* By then the address of the set may be one in another process. */
TEST_F(blocked, a_thread_that_has_lost_its_memory_reports_nothing)
{
	struct flexsc_set *set = new_set(0);
	pthread_t thread;
	void *lived;
	int i;

	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, serve_and_die, set));
		pthread_join(thread, &lived);
		if (lived)
			SKIP(return, "no inotify");
		usleep(10000);
		ASSERT_EQ(FLEXSC_RUNNER_RUNNING, LOAD(set->runner));
	}
}

TEST(a_descriptor_that_is_no_eventfd_is_refused)
{
	struct flexsc_set *set = new_set(FLEXSC_FENCES);
	int ends[2];

	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	ASSERT_EQ(0, pipe(ends));
	set->eventfd = ends[0];
	EXPECT_EQ(-EINVAL, flexsc_register(set, SET_SIZE(COUNT)));
	EXPECT_EQ(-EINVAL, flexsc_serve(set));
	close(ends[0]);
	EXPECT_EQ(-EBADF, flexsc_register(set, SET_SIZE(COUNT)));
	EXPECT_EQ(-EBADF, flexsc_serve(set));
}

TEST_HARNESS_MAIN

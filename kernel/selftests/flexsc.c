// SPDX-License-Identifier: GPL-2.0
/* flexsc: posted calls give the same results as plain ones; and the ways to stop. */
#include <sys/wait.h>
#include <time.h>

#include <linux/subcall.h>

#include "flexsc_test.h"

FIXTURE(flexsc)
{
	struct flexsc_set *set;
	struct runner runner;
};

FIXTURE_SETUP(flexsc)
{
	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	ASSERT_TRUE(register_fence());
	self->set = new_set(0);
	start(&self->runner, self->set, NULL);
}

FIXTURE_TEARDOWN(flexsc)
{
	if (self->set)
		EXPECT_EQ(0, stop(&self->runner));
}

TEST_F(flexsc, results_are_those_of_plain_calls)
{
	EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	EXPECT_EQ(-EBADF, made(self->set, ENTRY(__NR_close, -1)));
	EXPECT_EQ(-EFAULT, made(self->set, ENTRY(__NR_uname, 1)));
	EXPECT_EQ(self->runner.tid, made(self->set, ENTRY(__NR_gettid)));
}

TEST_F(flexsc, numbers_without_a_call_give_enosys)
{
	struct flexsc_entry crowded = ENTRY(__NR_getpid);

	crowded.argc = BATCH_MAX_ARGS + 1;
	EXPECT_EQ(-ENOSYS, made(self->set, crowded));
	EXPECT_EQ(-ENOSYS, made(self->set, ENTRY(511)));
	EXPECT_EQ(-ENOSYS, made(self->set, ENTRY(SHRT_MAX)));
	EXPECT_EQ(-ENOSYS, made(self->set, ENTRY(-1)));
	EXPECT_EQ(-ENOSYS, made(self->set, ENTRY(BATCH_WDCPY)));
}

TEST_F(flexsc, blocked_calls_are_not_made)
{
	static const long blocked[] = {
#ifdef __NR_fork
		__NR_fork, __NR_vfork,
#endif
		__NR_clone, __NR_clone3, __NR_execve, __NR_execveat, __NR_exit,
		__NR_exit_group, __NR_reboot, __NR_rt_sigreturn, __NR_restart_syscall,
		__NR_flexsc_register, __NR_flexsc_serve,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(blocked); i++)
		EXPECT_EQ(-ENOSYS, made(self->set, ENTRY(blocked[i], P(self->set))));
}

TEST_F(flexsc, neighbours_are_served_in_order)
{
	int ends[2], round, i;
	char order[COUNT];

	ASSERT_EQ(0, pipe(ends));
	for (round = 0; round < 100; round++) {
		char bytes[COUNT];

		for (i = 0; i < COUNT; i++) {
			bytes[i] = 'a' + i % 26;
			post(self->set, i, ENTRY(__NR_write, ends[1], P(&bytes[i]), 1));
		}
		for (i = 0; i < COUNT; i++)
			ASSERT_EQ(1, collect(&self->set->entry[i]));
		ASSERT_EQ(COUNT, read(ends[0], order, COUNT));
		ASSERT_EQ(0, memcmp(order, bytes, COUNT));
	}
}

TEST_F(flexsc, a_batch_may_be_posted)
{
	long rets[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
	struct batch_args inner;
	struct batch_slot calls[] = {
		SLOT(__NR_getpid),
		SLOT(__NR_batch, P(&inner), sizeof(inner)),
		SLOT(__NR_flexsc_serve, P(self->set)),
	};

	struct batch_args args = batch_args(rets, calls, 3);

	inner = batch_args(rets, calls, 1);
	EXPECT_EQ(2, made(self->set, ENTRY(__NR_batch, P(&args), sizeof(args))));
	EXPECT_EQ(THIS_PROCESS, rets[0]);
	EXPECT_EQ(-ENOSYS, rets[1]);
	EXPECT_EQ(-ENOSYS, rets[2]);
	args.flags = 2;
	EXPECT_EQ(-EINVAL, made(self->set, ENTRY(__NR_batch, P(&args), sizeof(args))));
	EXPECT_LT(0, made(self->set, ENTRY(__NR_batch, 0, 0)));
}

TEST_F(flexsc, a_thread_that_sleeps_on_a_call_is_woken)
{
	struct flexsc_entry *entry;
	const struct timespec pause = { 0, 20000000 };
	int i;

	for (i = 0; i < 20; i++) {
		entry = post(self->set, 3, ENTRY(__NR_nanosleep, P(&pause)));
		STORE(entry->argc, entry->argc | FLEXSC_ARGC_WAITED);
		own_call(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0);
		while (LOAD(entry->status) == FLEXSC_ENTRY_SUBMITTED)
			own_call(__NR_futex, P(&entry->status), FUTEX_WAIT_PRIVATE,
				 FLEXSC_ENTRY_SUBMITTED, 0);
		EXPECT_EQ(0, collect(entry));
	}
}

TEST_F(flexsc, an_idle_runner_sleeps_and_is_woken)
{
	int i;

	for (i = 0; i < 50; i++) {
		wait_until_idle(&self->runner);
		EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	}
	wait_until_idle(&self->runner);
}

/* A withdrawn call is not made, and a begun call is not withdrawn. */
TEST_F(flexsc, calls_are_withdrawn_or_made)
{
	struct flexsc_entry *entry;
	unsigned long makes = 0, withdrawn = 0, i;
	int file = memfd_create("withdraw", 0);

	for (i = 0; i < 5000; i++) {
		entry = post(self->set, i % COUNT, ENTRY(__NR_write, file, P("x"), 1));
		STORE(self->set->gate, FLEXSC_GATE_CLOSED);
		own_call(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0);
		if (!LOAD(entry->begun) && LOAD(entry->status) == FLEXSC_ENTRY_SUBMITTED) {
			STORE(entry->status, FLEXSC_ENTRY_FREE);
			withdrawn++;
			STORE(self->set->gate, FLEXSC_GATE_OPEN);
			continue;
		}
		STORE(self->set->gate, FLEXSC_GATE_OPEN);
		EXPECT_EQ(1, collect(entry));
		makes++;
	}
	EXPECT_EQ(5000, makes + withdrawn);
	EXPECT_EQ(makes, lseek(file, 0, SEEK_END));
}

TEST_F(flexsc, another_process_may_serve_at_the_same_time)
{
	int status, i;
	pid_t child = fork();

	if (!child) {
		struct flexsc_set *set = new_set(FLEXSC_FENCES);
		struct runner runner;

		start(&runner, set, NULL);
		for (i = 0; i < 200; i++)
			if (made(set, ENTRY(__NR_getpid)) != THIS_PROCESS)
				_exit(1);
		_exit(stop(&runner));
	}
	for (i = 0; i < 200; i++)
		EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

/* ---- times, fences ---- */

static unsigned long clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

TEST(times_are_stored_before_the_result)
{
	struct flexsc_set *set = new_set(FLEXSC_TIMES | FLEXSC_FENCES);
	const struct timespec pause = { 0, 3000000 };
	unsigned long before = clock_ns();
	struct flexsc_entry *entry;
	struct runner runner;

	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	start(&runner, set, NULL);
	entry = post(set, 0, ENTRY(__NR_nanosleep, P(&pause)));
	EXPECT_EQ(0, collect(entry));
	EXPECT_LE(before, entry->arg[4]);
	EXPECT_LE(entry->arg[4] + 3000000, entry->arg[5]);
	EXPECT_LE(entry->arg[5], clock_ns());
	EXPECT_EQ(0, stop(&runner));
}

TEST(without_a_registered_fence_one_has_to_be_asked_for)
{
	struct flexsc_set *set = new_set(0);
	struct runner runner;

	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	EXPECT_EQ(-EPERM, flexsc_serve(set));
	set->flags = FLEXSC_FENCES;
	start(&runner, set, NULL);
	EXPECT_EQ(THIS_PROCESS, made(set, ENTRY(__NR_getpid)));
	wait_until_idle(&runner);
	EXPECT_EQ(THIS_PROCESS, made(set, ENTRY(__NR_getpid)));
	EXPECT_EQ(0, stop(&runner));
}

/* ---- invalid sets ---- */

FIXTURE(bad_set)
{
	struct flexsc_set *set;
};

FIXTURE_SETUP(bad_set)
{
	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	ASSERT_TRUE(register_fence());
	self->set = new_set(0);
}

FIXTURE_TEARDOWN(bad_set)
{
}

#define EXPECT_REFUSED(error)							\
	do {									\
		EXPECT_EQ(error, flexsc_register(self->set, SET_SIZE(COUNT)));	\
		EXPECT_EQ(error, flexsc_serve(self->set));			\
	} while (0)

TEST_F(bad_set, a_good_set_is_accepted)
{
	long answer = flexsc_register(NULL, 0);

	EXPECT_EQ(FLEXSC_VERSION, answer & BATCH_VERSION_MASK);
	EXPECT_TRUE(answer >> BATCH_FEATURE_SHIFT & FLEXSC_FEATURE_MEMBARRIER);
	EXPECT_EQ(0, flexsc_register(self->set, SET_SIZE(COUNT)));
	EXPECT_EQ(-EINVAL, flexsc_register(self->set, SET_SIZE(COUNT) - 1));
	close_gate(self->set);
	EXPECT_EQ(0, flexsc_serve(self->set));
	EXPECT_EQ(FLEXSC_RUNNER_ABSENT, self->set->runner);
}

TEST_F(bad_set, fields_out_of_range_are_refused)
{
	self->set->version++;
	EXPECT_REFUSED(-EINVAL);
	self->set->version--;
	self->set->flags = 4;
	EXPECT_REFUSED(-EINVAL);
	self->set->flags = 0;
	self->set->count = 0;
	EXPECT_REFUSED(-EINVAL);
	self->set->count = 48;
	EXPECT_REFUSED(-EINVAL);
	self->set->count = 2 * FLEXSC_MAX_ENTRIES;
	EXPECT_REFUSED(-EINVAL);
}

TEST_F(bad_set, memory_out_of_reach_is_refused)
{
	char *misaligned = (char *)self->set + 8;

	EXPECT_EQ(-EINVAL, flexsc_serve(misaligned));
	EXPECT_EQ(-EFAULT, flexsc_serve(NULL));
	EXPECT_EQ(-EFAULT, flexsc_register((void *)-4096L, 1 << 20));
	EXPECT_EQ(-EFAULT, flexsc_serve((void *)-4096L));
	mprotect(self->set, 4096, PROT_READ);
	EXPECT_EQ(-EFAULT, flexsc_serve(self->set));
	munmap(self->set, SET_SIZE(COUNT));
	EXPECT_EQ(-EFAULT, flexsc_serve(self->set));
}

TEST_F(bad_set, memory_that_goes_away_ends_the_runner)
{
	struct runner runner;
	int i;

	for (i = 0; i < 3; i++) {
		struct flexsc_set *set = new_set(0);

		set->spin_ns = i ? 0 : LONG_MAX;
		start(&runner, set, NULL);
		EXPECT_EQ(THIS_PROCESS, made(set, ENTRY(__NR_getpid)));
		if (i)
			wait_until_idle(&runner);
		if (i == 1)
			mprotect(set, 4096, PROT_READ);
		else
			munmap(set, SET_SIZE(COUNT));
		if (i)
			own_call(__NR_futex, P(&set->runner), FUTEX_WAKE_PRIVATE, 1, 0);
		EXPECT_EQ(-EFAULT, end_of(&runner));
	}
}

TEST_F(bad_set, an_entry_that_cannot_be_written_ends_the_runner)
{
	const size_t page = 4096;
	struct flexsc_set *set = self->set;
	struct runner runner;

	/* The header and the first entries are on the first page. */
	set->entry[COUNT - 1] = ENTRY(__NR_getpid);
	set->entry[COUNT - 1].status = FLEXSC_ENTRY_SUBMITTED;
	mprotect((char *)set + page, page, PROT_READ);
	start(&runner, set, NULL);
	EXPECT_EQ(-EFAULT, end_of(&runner));
}

/* ---- a thread that writes random values to the set ---- */

struct scribbler {
	struct flexsc_set *set;
	unsigned int seed;
	bool header; /* also scribbles over the part that is read once */
	bool stop;
};

static void *scribble(void *argument)
{
	static const short numbers[] = { __NR_getpid, __NR_sched_yield, 511, __NR_batch,
					 __NR_flexsc_serve, __NR_getppid, -2, __NR_close };
	static long scratch[8];
	static struct batch_args args;
	struct scribbler *s = argument;
	struct flexsc_set *set = s->set;

	while (!LOAD(s->stop)) {
		struct flexsc_entry *entry = &set->entry[rand_r(&s->seed) % COUNT];

		entry->nr = numbers[rand_r(&s->seed) % ARRAY_SIZE(numbers)];
		entry->argc = rand_r(&s->seed) % 9;
		entry->begun = rand_r(&s->seed) % 4;
		args = batch_args(scratch, (void *)entry, rand_r(&s->seed) % 3);
		args.position = rand_r(&s->seed) % 2;
		args.state = rand_r(&s->seed) % 6;
		entry->arg[0] = P(&args);
		entry->arg[1] = rand_r(&s->seed) % 8 ? sizeof(args) : P(entry);
		entry->arg[2] = rand_r(&s->seed) % 3;
		entry->arg[3] = rand_r(&s->seed) % 1024;
		entry->status = rand_r(&s->seed) % 4;
		set->gate = rand_r(&s->seed) % 100 ? rand_r(&s->seed) % 2 : 3;
		set->runner = rand_r(&s->seed) % 4;
		if (s->header)
			set->count = rand_r(&s->seed);
		set->spin_ns = rand_r(&s->seed) % 10000;
		if (!(rand_r(&s->seed) % 16))
			own_call(__NR_futex, P(&set->runner), FUTEX_WAKE_PRIVATE, INT_MAX, 0);
	}
	return NULL;
}

static void ignore(int sig)
{
	(void)sig;
}

/* Scribbles for half a second.  Returns the result of flexsc_serve(), with or without signals. */
static long serve_scribbled(struct scribbler *scribbler, bool signals)
{
	const struct timespec pause = { 0, 1000000 };
	struct runner runner;
	unsigned long end = clock_ns() + 500000000;
	pthread_t thread;

	start(&runner, scribbler->set, NULL);
	pthread_create(&thread, NULL, scribble, scribbler);
	while (clock_ns() < end) {
		nanosleep(&pause, NULL);
		if (signals)
			pthread_kill(runner.thread, SIGUSR1);
	}
	STORE(scribbler->stop, true);
	pthread_join(thread, NULL);
	while (state_of(runner.tid)) {
		STORE(scribbler->set->gate, FLEXSC_GATE_STOP);
		own_call(__NR_futex, P(&scribbler->set->runner), FUTEX_WAKE_PRIVATE, INT_MAX, 0);
		usleep(100);
	}
	return end_of(&runner);
}

TEST_F(bad_set, memory_that_changes_harms_only_its_process)
{
	struct scribbler scribbler = { self->set, time(NULL) };
	const struct sigaction action = { .sa_handler = ignore };
	long result;

	TH_LOG("seed %u", scribbler.seed);
	sigaction(SIGUSR1, &action, NULL);
	EXPECT_EQ(0, serve_scribbled(&scribbler, true));
	scribbler.stop = false;
	scribbler.header = true;
	result = serve_scribbled(&scribbler, false);
	/* A runner that left for other work of the kernel reads the count anew. */
	EXPECT_TRUE(result == 0 || result == -EINVAL);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: MIT
/* Batches of 2^20 slots: the kernel allocates nothing for them, and they can be killed. */
#include <ferry/batchcall.h>

#include "hostile.h"

#define MANY (1UL << 20)

static struct batch_slot *calls;
static long *rets;

static void make_arrays(void)
{
	calls = mmap(NULL, MANY * sizeof(*calls), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	rets = mmap(NULL, MANY * sizeof(*rets) + PAGE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	expect(calls != MAP_FAILED && rets != MAP_FAILED);
}

TEST(a_million_slots_run)
{
	const long pid = getpid();
	unsigned long i;

	make_arrays();
	for (i = 0; i < MANY; i++)
		calls[i] = i % 2 ? SLOT(SYS_getpid) : SLOT(-1);
	expect_equal(run_batch(rets, calls, MANY), MANY - 1);
	for (i = 0; i < MANY; i++)
		expect_equal(rets[i], i % 2 ? pid : -ENOSYS);
	expect_equal(rets[MANY], 0);
}

TEST(a_million_slots_can_be_jumped_over)
{
	unsigned long i;

	make_arrays();
	for (i = 0; i < MANY; i += SHRT_MAX + 1UL)
		calls[i] = jumping(SLOT(-1), SHRT_MAX, -1, -1);
	expect_equal(run_batch(rets, calls, MANY), MANY - SHRT_MAX - 1);
	for (i = 0; i < MANY; i++)
		expect_equal(rets[i], i % (SHRT_MAX + 1UL) ? 0 : -ENOSYS);
}

static void run_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		run_batch(rets, calls, MANY);
}

TEST(a_million_slots_can_be_killed_anywhere)
{
	struct random random = random_new(1);
	int rounds = times(20, 500);
	unsigned long i;
	pid_t pid;

	patience(600);
	make_arrays();
	for (i = 0; i < MANY; i++)
		calls[i] = SLOT(SYS_getppid);
	while (rounds--) {
		pid = child_start(run_for_ever, NULL);
		usleep((useconds_t)random_below(&random, 20000));
		expect(!kill(pid, SIGKILL));
		expect_killed_by(pid, SIGKILL);
	}
}

TEST(a_batch_may_begin_beyond_what_an_int_counts)
{
	const unsigned long position = (1UL << 31) + 5;
	struct batch_args args;

	if (engine == FERRY_DEVICE)
		suite_skip("is about the system call");
	/* That far up, because nothing is mapped at the positions before. */
	calls = mmap((void *)(1UL << 45), 2 * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect(calls != MAP_FAILED && (unsigned long)calls > position * sizeof(*calls));
	rets = (long *)((char *)calls + PAGE);
	rets[0] = -1; /* the kernel leaves a result whose page is missing to user space */
	calls[0] = SLOT(SYS_getppid);
	calls[1] = SLOT(-1);
	ferry_batch_begin(&args, rets - position, calls - position, position + 2);
	args.position = position;
	args.last = position - 1;
	expect_equal(ferry_batchcall_raw(FERRY_NR_BATCH, (long)&args, sizeof(args), 0),
		     position + 1);
	expect_equal(rets[0], getppid());
	expect_equal(rets[1], -ENOSYS);
}

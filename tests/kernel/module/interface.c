// SPDX-License-Identifier: MIT
/* What the ioctl accepts, returns and refuses. */
#include "device.h"

#define NR_IOCTL_32 54
#define NR_IOCTL_X32 (0x40000000 + 514)

TEST(a_query_tells_version_and_features)
{
	long answer = device_run(device_open(), NULL);

	expect_equal(answer & BATCH_VERSION_MASK, BATCH_VERSION);
	expect_equal(answer >> BATCH_FEATURE_SHIFT, BATCH_FEATURE_WDCPY | BATCH_FEATURE_FORWARD);
}

TEST(bad_arguments_have_the_errors_of_batch)
{
	const struct batch_slot slot = SLOT(SYS_getpid);
	long ret = UNTOUCHED;
	const struct batch_args good = device_args(&ret, &slot, 1);
	struct batch_args args;
	int fd = device_open();

	expect_equal(device_run(fd, (void *)-PAGE), -EFAULT);
	args = good;
	args.flags = 2;
	expect_equal(device_run(fd, &args), -EINVAL);
	args = good;
	args.state = BATCH_STORE;
	expect_equal(device_run(fd, &args), -EINVAL);
	args = good;
	args.position = 1;
	expect_equal(device_run(fd, &args), -EINVAL);
	args = good;
	args.ncall = BATCH_MAX_SLOTS + 1;
	expect_equal(device_run(fd, &args), -EINVAL);
	args = good;
	args.calls = 0;
	expect_equal(device_run(fd, &args), -EFAULT);
	args = good;
	args.ncall = 0;
	expect_equal(device_run(fd, &args), 0);
	expect_equal(ret, UNTOUCHED);
}

TEST(other_ioctls_reads_and_writes_fail)
{
	static const unsigned long commands[] = { 0, TCGETS, FIONREAD, FERRY_IOC_BATCH ^ 0x100,
						  FERRY_IOC_BATCH ^ 0x10000 };
	struct batch_args args = { .ncall = 0 };
	int fd = device_open();
	char byte;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		expect(ferry_rawcall(SYS_ioctl, fd, (long)commands[i], (long)&args, 0, 0, 0) < 0);
	expect_equal(ferry_rawcall(SYS_read, fd, (long)&byte, 1, 0, 0, 0), -EINVAL);
	expect_equal(ferry_rawcall(SYS_write, fd, (long)&byte, 1, 0, 0, 0), -EINVAL);
}

/* ---- programs of other kinds ---- */

static void query_as_32_bit(void *arg)
{
	struct batch_args *args = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int answer;

	(void)arg;
	expect(args != MAP_FAILED);
	__asm__ volatile("int $0x80"
			 : "=a"(answer)
			 : "0"(NR_IOCTL_32), "b"(device_open()), "c"((unsigned)FERRY_IOC_BATCH),
			   "d"(args)
			 : "memory", "r8", "r9", "r10", "r11");
	expect_equal(answer, -ENOTTY);
}

TEST(a_32_bit_caller_is_refused)
{
	int status = in_child(query_as_32_bit, NULL);

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)
		suite_skip("this kernel has no 32-bit calls");
	expect_equal(status, 0);
}

TEST(an_x32_caller_is_refused)
{
	struct batch_args args = { .ncall = 0 };
	long answer = ferry_rawcall(NR_IOCTL_X32, device_open(), (long)FERRY_IOC_BATCH, (long)&args,
				    0, 0, 0);

	expect(answer == -ENOTTY || answer == -ENOSYS);
}

/* ---- a batch within a batch ---- */

TEST(no_batch_runs_within_a_batch)
{
	const struct batch_slot inner_slot = SLOT(SYS_getpid);
	long inner_ret = UNTOUCHED;
	struct batch_args inner = device_args(&inner_ret, &inner_slot, 1);
	int fd = device_open();
	const struct batch_slot calls[] = {
		SLOT(SYS_ioctl, fd, FERRY_IOC_BATCH, &inner),
		SLOT(SYS_ioctl, dup(fd), FERRY_IOC_BATCH, &inner),
		SLOT(SYS_getpid),
	};
	long rets[3] = { UNTOUCHED, UNTOUCHED, UNTOUCHED };
	struct batch_args args = device_args(rets, calls, 3);

	expect_equal(device_run(fd, &args), 2);
	expect_equal(rets[0], -ENOSYS);
	expect_equal(rets[1], -ENOSYS);
	expect_equal(rets[2], getpid());
	expect_equal(inner_ret, UNTOUCHED);
	expect_device_runs(fd);
}

TEST(a_batch_does_not_run_itself)
{
	struct batch_args args;
	int fd = device_open();
	const struct batch_slot slot = SLOT(SYS_ioctl, fd, FERRY_IOC_BATCH, &args);
	long ret = UNTOUCHED;

	args = device_args(&ret, &slot, 1);
	expect_equal(device_run(fd, &args), 0);
	expect_equal(ret, -ENOSYS);
}

/* In the loop an ioctl may run a batch. */
static long inner_answer(unsigned long ncall)
{
	/* Not on the stack: NCALL slots from there would not end in user space. */
	static struct batch_slot ask;
	static long ret;

	ask = jumping(SLOT(SYS_ioctl, device_open(), FERRY_IOC_BATCH, NULL), -1, -1, -1);
	expect_equal(ferry_batch_on(FERRY_DEVICE, &ret, &ask, ncall, 0, 0), 0);
	return ret;
}

TEST(the_library_loops_where_an_int_cannot_hold_the_answer)
{
	expect_equal(inner_answer(INT_MAX), -ENOSYS);
	expect_equal(inner_answer(INT_MAX + 1UL) & BATCH_VERSION_MASK, BATCH_VERSION);
}

/* ---- the state across a restart ---- */

TEST(a_batch_goes_on_after_signals)
{
	const struct batch_slot calls[] = {
		SLOT(SYS_kill, getpid(), SIGUSR1),
		SLOT(SYS_getpid),
		SLOT(SYS_kill, getpid(), SIGUSR1),
		SLOT(SYS_getppid),
	};
	long rets[4] = { UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED };
	struct batch_args args = device_args(rets, calls, 4);

	count_signals();
	expect_equal(device_run(device_open(), &args), 3);
	expect_equal(signals_seen, 2);
	expect_equal(rets[1], getpid());
	expect_equal(rets[3], getppid());
}

/* Restarted without its state, a batch would run again from its start. */
static void lose_the_state(void *arg)
{
	struct batch_args *args =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct batch_slot calls[] = {
		SLOT(SYS_write, *(int *)arg, "x", 1),
		SLOT(SYS_mprotect, args, PAGE, PROT_READ),
		SLOT(SYS_kill, getpid(), SIGUSR1),
		SLOT(SYS_write, *(int *)arg, "x", 1),
	};
	long rets[4] = { UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED };

	count_signals();
	*args = device_args(rets, calls, 4);
	device_run(device_open(), args);
}

TEST(a_batch_whose_state_cannot_be_kept_ends_by_sigsegv)
{
	int file = memory_file();

	expect_killed(lose_the_state, &file, SIGSEGV);
	expect_equal(lseek(file, 0, SEEK_END), 1);
}

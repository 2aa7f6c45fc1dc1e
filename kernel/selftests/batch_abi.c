// SPDX-License-Identifier: GPL-2.0
/* Other ways into the kernel: number 183, 32-bit calls, x32 calls. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "ferry_test.h"

#define X32_BIT 0x40000000L

FIXTURE(abi)
{
	struct ferry_slot *calls; /* two, below 4 GiB */
	long *rets;
};

FIXTURE_SETUP(abi)
{
	char *low;

	if (!have_batch())
		SKIP(return, NO_BATCH);
	low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
		   -1, 0);
	ASSERT_NE(MAP_FAILED, low);
	self->calls = (void *)low;
	self->rets = (void *)(low + 2048);
	self->calls[0] = SLOT(__NR_getpid);
	self->calls[1] = SLOT(__NR_getppid);
	self->rets[0] = UNTOUCHED;
	self->rets[1] = UNTOUCHED;
}

FIXTURE_TEARDOWN(abi)
{
}

/* ---- the alias ---- */

static long alias(long rets[], struct ferry_slot calls[], unsigned long ncall, long flags,
		  long size)
{
	long arg[] = { P(rets), P(calls), ncall, flags, size, 0 };

	return raw_call(FERRY_NR_BATCH_ALIAS, arg);
}

TEST_F(abi, number_183_takes_no_flags)
{
	if (alias(NULL, NULL, 0, 0, 0) == -ENOSYS)
		SKIP(return, "CONFIG_FERRY_BATCH_ALIAS is not set");
	EXPECT_EQ(1, alias(self->rets, self->calls, 2, -1, 12345));
	EXPECT_EQ(THIS_PROCESS, self->rets[0]);
	EXPECT_EQ(getppid(), self->rets[1]);

	/* Bits that batch() would take for a query or a position. */
	EXPECT_EQ(0, alias(NULL, NULL, 0, FERRY_BATCH_QUERY, 0));
	self->rets[0] = UNTOUCHED;
	EXPECT_EQ(1, alias(self->rets, self->calls, 2,
			   FERRY_BATCH_RESUME | 1L << FERRY_RESUME_SHIFT, 64));
	EXPECT_EQ(THIS_PROCESS, self->rets[0]);
}

static int handled;

static void handle(int sig)
{
	(void)sig;
	handled++;
}

TEST_F(abi, number_183_goes_on_after_signals)
{
	struct ferry_slot calls[] = {
		SLOT(__NR_kill, getpid(), SIGUSR1),
		SLOT(__NR_getpid),
		SLOT(__NR_kill, getpid(), SIGUSR1),
		SLOT(__NR_getppid),
	};
	long rets[4];
	const long before[] = { P(rets), P(calls), 4, 0x5a5a5a5a, -77, 99 };
	long arg[FERRY_MAX_ARGS];

	if (alias(NULL, NULL, 0, 0, 0) == -ENOSYS)
		SKIP(return, "CONFIG_FERRY_BATCH_ALIAS is not set");
	signal(SIGUSR1, handle);
	memcpy(arg, before, sizeof(arg));
	EXPECT_EQ(3, raw_call(FERRY_NR_BATCH_ALIAS, arg));
	EXPECT_EQ(2, handled);
	EXPECT_EQ(0, rets[0]);
	EXPECT_EQ(THIS_PROCESS, rets[1]);
	EXPECT_EQ(0, rets[2]);
	EXPECT_EQ(getppid(), rets[3]);
	EXPECT_EQ(0, memcmp(before, arg, sizeof(arg)));
}

TEST_F(abi, number_183_reports_interrupted_calls)
{
	const struct itimerval soon = { { 0, 0 }, { 0, 20000 } };
	const struct sigaction action = { .sa_handler = handle };
	struct ferry_slot calls[] = { SLOT(__NR_pause), SLOT(__NR_getpid) };
	long rets[2];
	const long before[] = { P(rets), P(calls), 2, 0x5a5a5a5a, -77, 99 };
	long arg[FERRY_MAX_ARGS];

	if (alias(NULL, NULL, 0, 0, 0) == -ENOSYS)
		SKIP(return, "CONFIG_FERRY_BATCH_ALIAS is not set");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	memcpy(arg, before, sizeof(arg));
	EXPECT_EQ(1, raw_call(FERRY_NR_BATCH_ALIAS, arg));
	EXPECT_EQ(-EINTR, rets[0]);
	EXPECT_EQ(THIS_PROCESS, rets[1]);
	EXPECT_EQ(0, memcmp(before, arg, sizeof(arg)));
}

/* The kernel does not look at the upper half of a number. */
TEST_F(abi, the_upper_half_of_a_number_is_ignored)
{
	const long high = 1L << 32;
	long none[FERRY_MAX_ARGS] = {}, query[FERRY_MAX_ARGS] = { 0, 0, 0, FERRY_BATCH_QUERY };

	EXPECT_EQ(0, raw_call(high | FERRY_NR_NULL, none));
	EXPECT_EQ(raw_call(FERRY_NR_BATCH, query), raw_call(high | FERRY_NR_BATCH, query));
}

/* ---- 32-bit and x32 ---- */

TEST_F(abi, x32_calls_are_refused)
{
	static const long numbers[] = { FERRY_NR_NULL, FERRY_NR_BATCH, FERRY_NR_BATCH_ALIAS };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		long arg[] = { P(self->rets), P(self->calls), 2, 0, 0, 0 };

		EXPECT_EQ(-ENOSYS, raw_call(X32_BIT | numbers[i], arg));
	}
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

/* User-mode Linux treats every call of a 64-bit program as a 64-bit call. */
static bool is_user_mode_linux(void)
{
	FILE *info = fopen("/proc/cpuinfo", "r");
	bool found = false;
	char line[256];

	while (info && fgets(line, sizeof(line), info))
		found |= !!strstr(line, "User Mode Linux");
	if (info)
		fclose(info);
	return found;
}

static sig_atomic_t no_int_80;

static void skip_instruction(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	no_int_80 = 1;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static long call_32(long nr, long a, long b, long c)
{
	long result;

	asm volatile("int $0x80"
		     : "=a" (result)
		     : "0" (nr), "b" (a), "c" (b), "d" (c), "S" (0), "D" (0)
		     : "r8", "r9", "r10", "r11", "memory");
	return result;
}

TEST_F(abi, i386_calls_are_refused)
{
	const struct sigaction action = {
		.sa_sigaction = skip_instruction,
		.sa_flags = SA_SIGINFO,
	};

	if (is_user_mode_linux())
		SKIP(return, "user-mode Linux has no 32-bit calls in 64-bit programs");
	sigaction(SIGSEGV, &action, NULL);
	call_32(20 /* getpid */, 0, 0, 0);
	if (no_int_80)
		SKIP(return, "CONFIG_IA32_EMULATION is not set");
	EXPECT_EQ(-ENOSYS, (int)call_32(FERRY_NR_NULL, 0, 0, 0));
	EXPECT_EQ(-ENOSYS, (int)call_32(FERRY_NR_BATCH, P(self->rets), P(self->calls), 2));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
	/* Number 183 is getcwd() there. */
	ASSERT_EQ(0, chdir("/"));
	EXPECT_EQ(2, call_32(FERRY_NR_BATCH_ALIAS, P(self->rets), 16, 0));
	EXPECT_EQ(0, strcmp("/", (char *)self->rets));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * The call batch() itself: its arguments, the registers that it leaves, and its answers where
 * user space has to continue.  batch.c tests what the slots mean.
 */
#include <limits.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "ferry_test.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif

FIXTURE(raw)
{
	struct ferry_slot calls[3]; /* getpid, getppid, getpid */
	long *rets; /* shared with children */
	long arg[FERRY_MAX_ARGS]; /* of a batch() of these */
	long before[FERRY_MAX_ARGS];
};

FIXTURE_SETUP(raw)
{
	int i;

	if (!have_batch())
		SKIP(return, NO_BATCH);
	self->rets = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->rets);
	for (i = 0; i < 3; i++) {
		self->calls[i] = SLOT(i == 1 ? __NR_getppid : __NR_getpid, 1, 2, 3, 4, 5, 6);
		self->rets[i] = UNTOUCHED;
	}
	self->arg[0] = P(self->rets);
	self->arg[1] = P(self->calls);
	self->arg[2] = 3;
	self->arg[4] = sizeof(*self->calls);
	self->arg[5] = 0x1234567;
	memcpy(self->before, self->arg, sizeof(self->arg));
}

FIXTURE_TEARDOWN(raw)
{
}

/* The answer to a batch that user space has to continue at slot I. */
static long refused_at(long i)
{
	return FERRY_BATCH_PARTIAL | FERRY_BATCH_RESUME | i << FERRY_RESUME_SHIFT;
}

#define EXPECT_REGISTERS_KEPT() EXPECT_EQ(0, memcmp(self->before, self->arg, sizeof(self->arg)))

/* ---- arguments ---- */

TEST_F(raw, the_query_answers_version_and_features)
{
	const long features = FERRY_FEATURE_WDCPY | FERRY_FEATURE_FORWARD;

	EXPECT_EQ(FERRY_ABI_VERSION | features << FERRY_FEATURE_SHIFT,
		  raw_batch(NULL, NULL, 0, FERRY_BATCH_QUERY, 0));
}

TEST_F(raw, a_query_with_other_arguments_gives_einval)
{
	EXPECT_EQ(-EINVAL, raw_batch(self->rets, NULL, 0, FERRY_BATCH_QUERY, 0));
	EXPECT_EQ(-EINVAL, raw_batch(NULL, self->calls, 0, FERRY_BATCH_QUERY, 0));
	EXPECT_EQ(-EINVAL, raw_batch(NULL, NULL, 1, FERRY_BATCH_QUERY, 0));
	EXPECT_EQ(-EINVAL, raw_batch(NULL, NULL, 0, FERRY_BATCH_QUERY, sizeof(*self->calls)));
}

TEST_F(raw, unknown_flags_and_sizes_give_einval)
{
	static const long sizes[] = { 1, 63, 65, 128, -1, LONG_MIN };
	size_t i;

	for (i = 0; i < 64; i++) {
		if (1L << i != FERRY_BATCH_RESUME)
			EXPECT_EQ(-EINVAL, raw_batch(self->rets, self->calls, 1, 1L << i, 0));
	}
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		EXPECT_EQ(-EINVAL, raw_batch(self->rets, self->calls, 1, 0, sizes[i]));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
	EXPECT_EQ(0, raw_batch(self->rets, self->calls, 1, 0, 0));
	EXPECT_EQ(THIS_PROCESS, self->rets[0]);
}

TEST_F(raw, arrays_that_no_address_space_holds_are_refused)
{
	EXPECT_EQ(-EINVAL, batch(self->rets, self->calls, FERRY_MAX_SLOTS + 1));
	EXPECT_EQ(-EINVAL, batch(self->rets, self->calls, -1UL));
	EXPECT_EQ(-EFAULT, batch(self->rets, NULL, 1));
	EXPECT_EQ(-EFAULT, batch(self->rets, (struct ferry_slot *)-64L, 1));
	EXPECT_EQ(-EFAULT, batch(self->rets, (struct ferry_slot *)LONG_MIN, 1));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

TEST_F(raw, a_position_as_flags_starts_the_batch_there)
{
	const long resume = FERRY_BATCH_RESUME;
	const long second = resume | 1L << FERRY_RESUME_SHIFT;

	EXPECT_EQ(2, raw_batch(self->rets, self->calls, 3, second, 64));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
	EXPECT_EQ(getppid(), self->rets[1]);
	EXPECT_EQ(THIS_PROCESS, self->rets[2]);

	/* There is no call to continue. */
	self->rets[2] = UNTOUCHED;
	self->calls[1].jump_fail = -1;
	EXPECT_EQ(1, raw_batch(self->rets, self->calls, 3, second | FERRY_BATCH_RESTART, 64));
	EXPECT_EQ(-EINTR, self->rets[1]);
	EXPECT_EQ(UNTOUCHED, self->rets[2]);
}

TEST_F(raw, a_position_that_is_none_is_refused)
{
	const long resume = FERRY_BATCH_RESUME;
	const long bad[] = { LONG_MIN | resume, refused_at(1), resume | FERRY_BATCH_QUERY,
			     resume | 4 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		EXPECT_EQ(-EINVAL, raw_batch(self->rets, self->calls, 3, bad[i], 64));
	EXPECT_EQ(-EFAULT, raw_batch(self->rets, self->calls, 3, resume | 3L << FERRY_RESUME_SHIFT,
				     64));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

/* ---- registers ---- */

TEST_F(raw, a_batch_keeps_the_registers_of_its_caller)
{
	EXPECT_EQ(2, raw_call(FERRY_NR_BATCH, self->arg));
	EXPECT_REGISTERS_KEPT();
}

static int handled;

static void handle(int sig)
{
	(void)sig;
	handled++;
}

TEST_F(raw, signals_between_slots_keep_the_registers_of_the_caller)
{
	self->calls[0] = SLOT(__NR_kill, getpid(), SIGUSR1, 3, 4, 5, 6);
	self->calls[1] = self->calls[0];
	signal(SIGUSR1, handle);
	EXPECT_EQ(2, raw_call(FERRY_NR_BATCH, self->arg));
	EXPECT_EQ(2, handled);
	EXPECT_EQ(THIS_PROCESS, self->rets[2]);
	EXPECT_REGISTERS_KEPT();
}

static bool stops_at_next_call(pid_t pid, int *status)
{
	return !ptrace(PTRACE_SYSCALL, pid, 0, 0) && waitpid(pid, status, 0) == pid &&
	       WIFSTOPPED(*status);
}

TEST_F(raw, a_register_that_a_tracer_changes_stays_changed)
{
	struct user_regs_struct regs;
	bool entry = true;
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		raw_call(FERRY_NR_BATCH, self->arg);
		_exit(self->arg[5] == 0x1234 ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_EXITKILL));
	for (; stops_at_next_call(pid, &status); entry = !entry) {
		ptrace(PTRACE_GETREGS, pid, 0, &regs);
		if (entry || (int)regs.orig_rax != FERRY_NR_BATCH)
			continue;
		regs.r9 = 0x1234;
		ptrace(PTRACE_SETREGS, pid, 0, &regs);
	}
	EXPECT_EQ(0, status);
}

/* ---- what the kernel leaves to its caller ---- */

/* A filter that answers call NR with ACTION and allows all others. */
struct filter {
	struct sock_filter code[4];
	struct sock_fprog program;
};

static void make_filter(struct filter *filter, int nr, unsigned int action)
{
	const struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	memcpy(filter->code, code, sizeof(code));
	filter->program.len = ARRAY_SIZE(code);
	filter->program.filter = filter->code;
}

static bool install(int nr, unsigned int action)
{
	struct filter filter;

	make_filter(&filter, nr, action);
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter.program);
}

TEST_F(raw, a_filter_may_deny_batch_itself)
{
	ASSERT_TRUE(install(FERRY_NR_BATCH, SECCOMP_RET_ERRNO | EPERM));
	EXPECT_EQ(-EPERM, batch(self->rets, self->calls, 3));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

TEST_F(raw, a_slot_that_traps_is_left_to_the_caller)
{
	ASSERT_TRUE(install(__NR_getppid, SECCOMP_RET_TRAP));
	EXPECT_EQ(refused_at(1), raw_call(FERRY_NR_BATCH, self->arg));
	EXPECT_REGISTERS_KEPT();
	EXPECT_EQ(THIS_PROCESS, self->rets[0]);
	EXPECT_EQ(UNTOUCHED, self->rets[1]);
	EXPECT_EQ(UNTOUCHED, self->rets[2]);

	/* No slot from there on ran.  Continuing after it runs the rest. */
	self->arg[3] = FERRY_BATCH_RESUME | 2L << FERRY_RESUME_SHIFT;
	EXPECT_EQ(2, raw_call(FERRY_NR_BATCH, self->arg));
	EXPECT_EQ(THIS_PROCESS, self->rets[2]);
}

TEST_F(raw, the_first_slot_may_be_left_to_the_caller)
{
	ASSERT_TRUE(install(__NR_getpid, SECCOMP_RET_TRAP));
	EXPECT_EQ(refused_at(0), raw_call(FERRY_NR_BATCH, self->arg));
	EXPECT_REGISTERS_KEPT();
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

TEST_F(raw, a_batch_under_dispatch_to_user_space_is_left_to_the_caller)
{
	static char selector; /* SYSCALL_DISPATCH_FILTER_ALLOW */
	long result;

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector))
		SKIP(return, "no syscall user dispatch");
	result = raw_call(FERRY_NR_BATCH, self->arg);
	prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
	EXPECT_EQ(refused_at(0), result);
	EXPECT_REGISTERS_KEPT();
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

/* A batch that installs a filter with ACTION for batch(), then is interrupted by a signal. */
static long interrupted_under(unsigned int action, long rets[4], long *flags)
{
	struct filter filter;
	struct ferry_slot calls[] = {
		SLOT(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		SLOT(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, P(&filter.program)),
		SLOT(__NR_kill, getpid(), SIGUSR1),
		SLOT(__NR_getpid),
	};
	long arg[FERRY_MAX_ARGS] = { P(rets), P(calls), 4, 0, 64, 0 };
	long answer;

	rets[3] = UNTOUCHED;
	make_filter(&filter, FERRY_NR_BATCH, action);
	signal(SIGUSR1, handle);
	answer = raw_call(FERRY_NR_BATCH, arg);
	*flags = arg[3];
	return answer;
}

TEST_F(raw, a_restart_that_a_filter_forbids_is_left_to_the_caller)
{
	static const unsigned int actions[] = {
		SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
		SECCOMP_RET_ERRNO | EPERM
	};
	long *rets = self->rets, *flags = rets + 4, *answer = rets + 5;
	int status;
	size_t i;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		pid = fork();
		if (!pid) {
			*answer = interrupted_under(actions[i], rets, flags);
			_exit(handled);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFEXITED(status));
		EXPECT_EQ(1, WEXITSTATUS(status));
		EXPECT_EQ(refused_at(3), *answer);
		EXPECT_EQ(0, *flags);
		EXPECT_EQ(0, rets[2]);
		EXPECT_EQ(UNTOUCHED, rets[3]);
	}
}

TEST_HARNESS_MAIN

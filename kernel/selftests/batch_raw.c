// SPDX-License-Identifier: GPL-2.0
/* batch(): arguments, slots, the registers that it leaves, and the state for user space. */
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "subcall_test.h"

FIXTURE(raw)
{
	struct batch_slot calls[3]; /* getpid, getppid, getpid */
	long *rets; /* shared with children */
	struct batch_args args; /* of a batch of these */
	long arg[BATCH_MAX_ARGS]; /* of batch() with these */
	long before[BATCH_MAX_ARGS];
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
	self->args = batch_args(self->rets, self->calls, 3);
	self->arg[0] = P(&self->args);
	self->arg[1] = sizeof(self->args);
	for (i = 2; i < BATCH_MAX_ARGS; i++)
		self->arg[i] = 0x1234567 + i;
	memcpy(self->before, self->arg, sizeof(self->arg));
}

FIXTURE_TEARDOWN(raw)
{
}

#define RUN() raw_batch(&self->args, sizeof(self->args))
#define EXPECT_REGISTERS_KEPT() EXPECT_EQ(0, memcmp(self->before, self->arg, sizeof(self->arg)))

/* The batch is user space's from slot I on. */
#define EXPECT_LEFT_AT(i, how)						\
	do {								\
		EXPECT_EQ(i, self->args.position);			\
		EXPECT_EQ(how, self->args.state);			\
	} while (0)

TEST_F(raw, the_query_answers_version_and_features)
{
	const long features = BATCH_FEATURE_WDCPY | BATCH_FEATURE_FORWARD;

	EXPECT_EQ(BATCH_VERSION | features << BATCH_FEATURE_SHIFT, raw_batch(NULL, 0));
	EXPECT_EQ(-EFAULT, raw_batch(NULL, sizeof(self->args)));
}

TEST_F(raw, unknown_flags_and_states_give_einval)
{
	self->args.flags = 1;
	EXPECT_EQ(-EINVAL, RUN());
	self->args.flags = 0;
	self->args.state = BATCH_STORE;
	EXPECT_EQ(-EINVAL, RUN());
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

TEST_F(raw, the_structure_may_grow)
{
	struct {
		struct batch_args args;
		long more[4];
	} larger = { self->args };
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *end = page + 4096 - sizeof(self->args);

	EXPECT_EQ(-EINVAL, raw_batch(&self->args, sizeof(self->args) - 1));
	larger.more[3] = 1;
	EXPECT_EQ(-E2BIG, raw_batch(&larger.args, sizeof(larger)));
	EXPECT_EQ(2, raw_batch(&larger.args, sizeof(larger) - 8));
	EXPECT_EQ(-E2BIG, raw_batch(&larger.args, SIZE_MAX));
	memcpy(page, &self->args, sizeof(self->args));
	EXPECT_EQ(2, raw_batch((void *)page, 4096));
	EXPECT_EQ(-E2BIG, raw_batch((void *)page, 4097));
	ASSERT_EQ(0, munmap(page + 4096, 4096));
	memcpy(end, &self->args, sizeof(self->args));
	EXPECT_EQ(2, raw_batch(end, sizeof(self->args)));
	EXPECT_EQ(-EFAULT, raw_batch((void *)(page + 4096 - 8), sizeof(self->args)));
	EXPECT_EQ(-EFAULT, raw_batch(end, sizeof(self->args) + 8));
	EXPECT_EQ(-EFAULT, raw_batch((void *)LONG_MIN, sizeof(self->args)));
}

TEST_F(raw, arrays_that_no_address_space_holds_are_refused)
{
	EXPECT_EQ(-EINVAL, batch(self->rets, self->calls, -1UL));
	EXPECT_EQ(-EFAULT, batch(self->rets, NULL, 1));
	EXPECT_EQ(-EFAULT, batch(self->rets, (struct batch_slot *)-64L, 1));
	EXPECT_EQ(-EFAULT, batch(self->rets, (struct batch_slot *)LONG_MIN, 1));
	/* User space makes the calls of arrays that lie only in part in its memory. */
	self->args.ncall = BATCH_MAX_SLOTS;
	EXPECT_EQ(-EOPNOTSUPP, RUN());
	EXPECT_LEFT_AT(0, BATCH_BEGIN);
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

TEST_F(raw, a_batch_begins_at_its_position)
{
	self->args.position = 1;
	EXPECT_EQ(2, RUN());
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
	EXPECT_EQ(THIS_PROCESS, self->rets[2]);
	/* Where it cannot, the slot that ran before is the last. */
	self->args.calls = LONG_MIN;
	EXPECT_EQ(0, RUN());
	self->args.last = 1;
	EXPECT_EQ(-EINVAL, RUN());
	self->args.position = 3;
	EXPECT_EQ(-EINVAL, RUN());
}

TEST_F(raw, the_call_of_a_position_comes_from_the_arguments)
{
	self->args.position = 1;
	self->args.state = BATCH_CALL;
	self->args.slot = SLOT(__NR_lseek, -1);
	EXPECT_EQ(2, RUN());
	EXPECT_EQ(-EBADF, self->rets[1]);
	/* There is no call to continue.  The jump is that of the slot, too. */
	self->args.state = BATCH_RESTART;
	self->args.slot.jump_fail = -1;
	EXPECT_EQ(1, RUN());
	EXPECT_EQ(-EINTR, self->rets[1]);
}

TEST_F(raw, a_result_that_takes_a_page_fault_is_left_to_the_caller)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	long *rets = (long *)(page + 4096) - 1;

	ASSERT_EQ(0, madvise(page + 4096, 4096, MADV_DONTNEED));
	self->args.rets = P(rets);
	EXPECT_EQ(-EOPNOTSUPP, raw_call(__NR_batch, self->arg));
	EXPECT_REGISTERS_KEPT();
	EXPECT_EQ(THIS_PROCESS, rets[0]);
	EXPECT_LEFT_AT(1, BATCH_STORE);
	EXPECT_EQ(getppid(), self->args.result);
	EXPECT_EQ(0, memcmp(&self->args.slot, &self->calls[1], sizeof(self->calls[1])));
	/* No call is made whose result has no place in user space. */
	self->args = batch_args((long *)LONG_MIN, self->calls, 3);
	EXPECT_EQ(-EOPNOTSUPP, RUN());
	EXPECT_LEFT_AT(0, BATCH_BEGIN);
}

TEST_F(raw, results_select_jumps)
{
	struct batch_slot *first = &self->calls[0];

	*first = SLOT(__NR_lseek, -1);
	first->jump_fail = 1;
	EXPECT_EQ(2, RUN());
	*first = SLOT(__NR_prctl, PR_SET_DUMPABLE, 1);
	first->jump_zero = 1;
	EXPECT_EQ(2, RUN());
	*first = SLOT(__NR_prctl, PR_GET_DUMPABLE);
	first->jump_pos = 1;
	EXPECT_EQ(2, RUN());
	EXPECT_EQ(UNTOUCHED, self->rets[1]);
	first->jump_pos = -1;
	EXPECT_EQ(0, RUN());
}

TEST_F(raw, a_slot_takes_results_and_copies_words)
{
	long word = 7, copy = 0;

	self->calls[1] = SLOT(__NR_kill, 0, 0);
	self->calls[1].argc |= BATCH_ARGC_FORWARD;
	self->calls[1].from[0] = 1;
	self->calls[2] = SLOT(BATCH_WDCPY, P(&copy), P(&word));
	EXPECT_EQ(2, RUN());
	EXPECT_EQ(0, self->rets[1]);
	EXPECT_EQ(7, copy);
	self->calls[1].from[0] = 2;
	self->calls[2].arg[0] = LONG_MIN;
	EXPECT_EQ(2, RUN());
	EXPECT_EQ(-EINVAL, self->rets[1]);
	EXPECT_EQ(-EFAULT, self->rets[2]);
}

TEST_F(raw, some_calls_are_not_made)
{
	static const short numbers[] = {
		__NR_clone, __NR_execve, __NR_exit, __NR_rt_sigreturn, __NR_restart_syscall,
		__NR_batch, -1, SHRT_MIN, SHRT_MAX, 511, 512
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		self->calls[1] = SLOT(numbers[i], 0, 0, 0, 0, 0, 0);
		EXPECT_EQ(2, RUN());
		EXPECT_EQ(-ENOSYS, self->rets[1]);
	}
}

static int handled;

static void handle(int sig)
{
	(void)sig;
	handled++;
}

TEST_F(raw, a_batch_keeps_the_registers_of_its_caller)
{
	/* A signal restarts it after its second slot. */
	self->calls[1] = SLOT(__NR_kill, getpid(), SIGUSR1, 3, 4, 5, 6);
	signal(SIGUSR1, handle);
	EXPECT_EQ(2, raw_call(__NR_batch, self->arg));
	EXPECT_EQ(1, handled);
	EXPECT_EQ(THIS_PROCESS, self->rets[2]);
	EXPECT_REGISTERS_KEPT();
}

/* The answer to a child whose batch waits for ENDS, and is interrupted by a handler with FLAGS. */
static long interrupted(struct batch_args *args, int ends[2], int flags)
{
	const struct sigaction action = { .sa_handler = handle, .sa_flags = flags };
	long *answer = (long *)(args + 1);
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		sigaction(SIGUSR1, &action, NULL);
		*answer = raw_batch(args, sizeof(*args));
		_exit(0);
	}
	if (!falls_asleep(pid) || kill(pid, SIGUSR1))
		return UNTOUCHED;
	if (flags && (!falls_asleep(pid) || write(ends[1], "x", 1) != 1))
		return UNTOUCHED;
	return waitpid(pid, &status, 0) == pid && !status ? *answer : UNTOUCHED;
}

TEST_F(raw, a_call_that_a_handler_ends_is_left_to_the_caller)
{
	struct batch_args *args = (void *)(self->rets + 8);
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	self->calls[1] = SLOT(__NR_read, ends[0], P(self->rets + 70), 1);
	*args = self->args;
	EXPECT_EQ(-EINTR, interrupted(args, ends, 0));
	EXPECT_EQ(1, args->position);
	EXPECT_EQ(BATCH_CALL, args->state);
	EXPECT_EQ(0, memcmp(&args->slot, &self->calls[1], sizeof(args->slot)));
	EXPECT_EQ(UNTOUCHED, self->rets[1]);

	/* The batch, not only the call, goes on after the handler. */
	*args = self->args;
	EXPECT_EQ(2, interrupted(args, ends, SA_RESTART));
	EXPECT_EQ(1, self->rets[1]);
}

/* The code of a filter that answers call NR with ACTION and allows all others. */
#define FILTER(nr_, action)							\
	{									\
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),	\
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr_, 0, 1),			\
		BPF_STMT(BPF_RET | BPF_K, action),				\
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),			\
	}

TEST_F(raw, a_slot_that_traps_is_left_to_the_caller)
{
	struct sock_filter code[] = FILTER(__NR_getppid, SECCOMP_RET_TRAP);
	struct sock_fprog filter = { ARRAY_SIZE(code), code };

	self->calls[1].argc |= BATCH_ARGC_FORWARD;
	self->calls[1].from[2] = 1;
	ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ASSERT_EQ(0, syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter));
	EXPECT_EQ(-EOPNOTSUPP, raw_call(__NR_batch, self->arg));
	EXPECT_REGISTERS_KEPT();
	EXPECT_LEFT_AT(1, BATCH_CALL);
	EXPECT_EQ(BATCH_MAX_ARGS, self->args.slot.argc);
	EXPECT_EQ(2, self->args.slot.arg[1]);
	EXPECT_EQ(THIS_PROCESS, self->args.slot.arg[2]);
	EXPECT_EQ(UNTOUCHED, self->rets[1]);
}

/* The call ends by itself, in the registers of batch(), and the slots after it are left. */
TEST_F(raw, a_restart_that_a_filter_forbids_is_left_to_the_caller)
{
	struct sock_filter code[] = FILTER(__NR_batch, SECCOMP_RET_KILL_PROCESS);
	struct sock_fprog filter = { ARRAY_SIZE(code), code };
	struct batch_args *args = (void *)(self->rets + 8);
	int ends[2], flags;

	ASSERT_EQ(0, pipe(ends));
	self->calls[0] = SLOT(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, P(&filter));
	self->calls[1] = SLOT(__NR_read, ends[0], P(self->rets + 70), 1);
	ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	for (flags = 0; flags <= SA_RESTART; flags += SA_RESTART) {
		*args = self->args;
		EXPECT_EQ(flags ? 1 : -EINTR, interrupted(args, ends, flags));
		EXPECT_EQ(1, args->position);
		EXPECT_EQ(BATCH_ANSWER, args->state);
		EXPECT_EQ(UNTOUCHED, self->rets[1]);
	}
	/* A signal between two slots. */
	self->calls[1] = SLOT(__NR_kill, getpid(), SIGUSR1);
	signal(SIGUSR1, handle);
	EXPECT_EQ(-EOPNOTSUPP, RUN());
	EXPECT_LEFT_AT(2, BATCH_BEGIN);
	EXPECT_EQ(1, handled);
}

#ifdef __x86_64__

TEST_F(raw, only_64_bit_calls_are_made)
{
	/* Below 4 GiB, where 32-bit calls find them. */
	struct batch_args *args = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long result = __NR_batch;

	ASSERT_NE(MAP_FAILED, args);
	*args = self->args;
	self->arg[0] = P(args);
	EXPECT_EQ(-ENOSYS, raw_call(0x40000000L /* x32 */ | __NR_batch, self->arg));
	if (!fork()) {
		/* Raises SIGSEGV without CONFIG_IA32_EMULATION.  UML takes other registers. */
		asm volatile("int $0x80" : "+a" (result)
			     : "b" (args), "c" (sizeof(*args))
			     : "r8", "r9", "r10", "r11", "memory");
		self->rets[3] = (int)result;
		_exit(0);
	}
	wait(NULL);
	EXPECT_NE(2, self->rets[3]);
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
	/* The kernel does not look at the upper half of a number. */
	EXPECT_EQ(2, raw_call(1L << 32 | __NR_batch, self->arg));
}

#endif

TEST_HARNESS_MAIN

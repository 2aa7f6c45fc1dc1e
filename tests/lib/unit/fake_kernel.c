// SPDX-License-Identifier: MIT
/* The fake kernel; see fake_kernel.h. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <ferry/loop.h>

#include "child.h"
#include "fake_kernel.h"

long fake_kernel_answer = FAKE_KERNEL_RIGHT;
volatile int fake_kernel_crossings;
long fake_kernel_refuses = -1;
long fake_kernel_refusal = -EOPNOTSUPP;

#if defined(__x86_64__)
static void get_arguments(const mcontext_t *context, long args[])
{
	static const int registers[] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8 };

	for (int i = 0; i < 5; i++)
		args[i] = context->gregs[registers[i]];
}

static void set_result(mcontext_t *context, long result)
{
	context->gregs[REG_RAX] = result;
}

static void set_flags(mcontext_t *context, long flags)
{
	context->gregs[REG_R10] = flags;
}
#elif defined(__aarch64__)
static void get_arguments(const mcontext_t *context, long args[])
{
	for (int i = 0; i < 5; i++)
		args[i] = (long)context->regs[i];
}

static void set_result(mcontext_t *context, long result)
{
	context->regs[0] = (unsigned long)result;
}

static void set_flags(mcontext_t *context, long flags)
{
	context->regs[3] = (unsigned long)flags;
}
#else
#error "the fake kernel needs this architecture's system call registers"
#endif

/* Runs slots up to the refused one.  A filter refuses a restart, whose flags hold the position. */
static long run(long *rets, const struct ferry_slot *calls, unsigned long ncall,
		mcontext_t *registers)
{
	struct ferry_cursor cursor = ferry_cursor_at(0, calls);
	const struct ferry_slot *refused = calls + fake_kernel_refuses;
	long position;

	if (fake_kernel_refuses < 0 || !ncall)
		return ferry_loop(rets, calls, ncall);
	ferry_loop_until(&cursor, refused, rets, calls, ncall);
	if (cursor.slot != refused)
		return ferry_cursor_last(&cursor, calls);
	position = FERRY_BATCH_RESUME | fake_kernel_refuses << FERRY_RESUME_SHIFT;
	if (fake_kernel_refusal == -EOPNOTSUPP)
		return FERRY_BATCH_PARTIAL | position;
	set_flags(registers, position);
	return fake_kernel_refusal;
}

static long answer(long *rets, const struct ferry_slot *calls, const long args[],
		   mcontext_t *registers)
{
	unsigned long ncall = (unsigned long)args[2];
	long refused = ferry_batch_prepare(rets, calls, ncall, args[3], args[4]);

	if (args[3] == FERRY_BATCH_QUERY && refused > 0)
		return fake_kernel_answer;
	fake_kernel_crossings++;
	/* A filter does not look at the arguments. */
	if (!fake_kernel_refuses && fake_kernel_refusal != -EOPNOTSUPP)
		return fake_kernel_refusal;
	return refused ? refused : run(rets, calls, ncall, registers);
}

static void trapped(int signal, siginfo_t *info, void *context)
{
	mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
	long args[5];

	CHILD_ASSERT(signal == SIGSYS && info->si_syscall == FERRY_NR_BATCH);
	get_arguments(registers, args);
	set_result(registers,
		   answer((long *)args[0], (const struct ferry_slot *)args[1], args, registers));
}

void fake_kernel_install(void)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO };
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FERRY_NR_BATCH, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(*code), code };

	CHILD_ASSERT(!sigaction(SIGSYS, &action, NULL));
	CHILD_ASSERT(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHILD_ASSERT(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
}

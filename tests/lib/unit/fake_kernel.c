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
unsigned long fake_kernel_state = BATCH_BEGIN;

#if defined(__x86_64__)
static struct batch_args *get_arguments(const mcontext_t *context)
{
	return (struct batch_args *)context->gregs[REG_RDI];
}

static void set_result(mcontext_t *context, long result)
{
	context->gregs[REG_RAX] = result;
}
#elif defined(__aarch64__)
static struct batch_args *get_arguments(const mcontext_t *context)
{
	return (struct batch_args *)context->regs[0];
}

static void set_result(mcontext_t *context, long result)
{
	context->regs[0] = (unsigned long)result;
}
#else
#error "the fake kernel needs this architecture's system call registers"
#endif

/*
 * Runs slots up to the refused one.  There the kernel stops, or a filter refuses the restart
 * after a signal.
 */
static long run(struct batch_args *args)
{
	const struct batch_slot *calls = (const struct batch_slot *)args->calls;
	struct ferry_cursor cursor = ferry_cursor_at(0, calls);
	const struct batch_slot *refused = calls + fake_kernel_refuses;
	long *rets = (long *)args->rets;

	if (fake_kernel_refuses < 0 || !args->ncall)
		return ferry_loop(rets, calls, args->ncall);
	ferry_loop_until(&cursor, refused, rets, calls, args->ncall);
	if (cursor.slot != refused)
		return ferry_cursor_last(&cursor, calls);
	args->position = (unsigned long)fake_kernel_refuses;
	args->last = (unsigned long)cursor.from;
	args->state = fake_kernel_state;
	args->slot = *refused;
	args->result = -1;
	if (fake_kernel_state != BATCH_STORE && fake_kernel_state != BATCH_ANSWER)
		return fake_kernel_refusal;
	args->result = ferry_loop_slot(refused, *(const unsigned long *)refused, rets,
				       rets + fake_kernel_refuses);
	fake_kernel_refuses = -1;
	return fake_kernel_state == BATCH_ANSWER ? args->result : -EOPNOTSUPP;
}

/* The rest of a batch that user space continues. */
static long go_on(struct batch_args *args)
{
	const struct batch_slot *calls = (const struct batch_slot *)args->calls;
	struct ferry_cursor cursor = ferry_cursor_left(args);

	CHILD_ASSERT(args->state == BATCH_BEGIN && args->position < args->ncall);
	ferry_loop_until(&cursor, calls + args->ncall, (long *)args->rets, calls, args->ncall);
	return ferry_cursor_last(&cursor, calls);
}

static long answer(struct batch_args *args)
{
	long refused;

	if (!args)
		return fake_kernel_answer;
	fake_kernel_crossings++;
	/* A filter does not look at the arguments. */
	if (!fake_kernel_refuses && fake_kernel_refusal != -EOPNOTSUPP)
		return fake_kernel_refusal;
	refused = ferry_batch_prepare((const void *)args->rets, (const void *)args->calls,
				      args->ncall, (long)args->flags, 0);
	if (refused)
		return refused;
	return args->position ? go_on(args) : run(args);
}

static void trapped(int signal, siginfo_t *info, void *context)
{
	mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
	CHILD_ASSERT(signal == SIGSYS && info->si_syscall == FERRY_NR_BATCH);
	set_result(registers, answer(get_arguments(registers)));
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

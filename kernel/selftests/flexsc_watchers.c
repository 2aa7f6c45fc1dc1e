// SPDX-License-Identifier: GPL-2.0
/* seccomp, syscall user dispatch and ptrace see each posted call and the calls of batches. */
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>

#include "flexsc_test.h"

/* ---- seccomp ---- */

/* Installs a filter with ACTION for call NR.  Returns the result of seccomp(). */
static long install(int nr, unsigned int action, unsigned int flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static long deny(void)
{
	return install(__NR_getppid, SECCOMP_RET_ERRNO | EPERM, 0);
}

static long trap(void)
{
	return install(__NR_getppid, SECCOMP_RET_TRAP, 0);
}

FIXTURE(filtered)
{
	struct flexsc_set *set;
	struct runner runner;
};

FIXTURE_SETUP(filtered)
{
	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	ASSERT_TRUE(register_fence());
	self->set = new_set(0);
}

FIXTURE_TEARDOWN(filtered)
{
}

TEST_F(filtered, a_filter_decides_about_posted_calls)
{
	ASSERT_EQ(0, deny());
	start(&self->runner, self->set, NULL);
	EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	EXPECT_EQ(-EPERM, made(self->set, ENTRY(__NR_getppid)));
	EXPECT_EQ(-ENOSYS, made(self->set, ENTRY(__NR_clone)));
	wait_until_idle(&self->runner);
	EXPECT_EQ(-EPERM, made(self->set, ENTRY(__NR_getppid)));
	EXPECT_EQ(0, stop(&self->runner));
}

/*
 * Everything is on one CPU, so that the runner is preempted: after the filter has changed, any
 * work that makes it leave the kernel would end it.
 */
TEST_F(filtered, a_filter_installed_meanwhile_decides_about_later_calls)
{
	cpu_set_t one_cpu;
	int i;

	CPU_ZERO(&one_cpu);
	CPU_SET(sched_getcpu(), &one_cpu);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one_cpu), &one_cpu));
	self->set->spin_ns = 50000000;
	start(&self->runner, self->set, NULL);
	EXPECT_EQ(getppid(), made(self->set, ENTRY(__NR_getppid)));
	ASSERT_EQ(0, install(__NR_getppid, SECCOMP_RET_ERRNO | EPERM, SECCOMP_FILTER_FLAG_TSYNC));
	for (i = 0; i < 50; i++)
		ASSERT_EQ(-EPERM, made(self->set, ENTRY(__NR_getppid)));
	EXPECT_EQ(0, stop(&self->runner));
}

static void handle(int sig)
{
	(void)sig;
}

/* The signal would restart flexsc_serve(). */
TEST_F(filtered, a_filter_that_forbids_to_serve_again_leaves_serving_to_user_space)
{
	signal(SIGUSR1, handle);
	start(&self->runner, self->set, NULL);
	EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	ASSERT_EQ(0, install(__NR_flexsc_serve, SECCOMP_RET_KILL_PROCESS,
			     SECCOMP_FILTER_FLAG_TSYNC));
	EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	pthread_kill(self->runner.thread, SIGUSR1);
	EXPECT_EQ(-EOPNOTSUPP, end_of(&self->runner));
	EXPECT_EQ(0, self->set->entry[0].begun);
}

/* A trapped call is left to user space, begun; after that the kernel serves again. */
TEST_F(filtered, a_call_that_traps_is_left_to_user_space)
{
	struct flexsc_entry *entry;

	ASSERT_EQ(0, trap());
	start(&self->runner, self->set, NULL);
	EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	entry = post(self->set, 9, ENTRY(__NR_getppid));
	EXPECT_EQ(-EOPNOTSUPP, end_of(&self->runner));
	EXPECT_EQ(FLEXSC_ENTRY_SUBMITTED, entry->status);
	EXPECT_EQ(FLEXSC_BEGUN, entry->begun);
	entry->begun = 0;
	entry->status = FLEXSC_ENTRY_FREE;
	start(&self->runner, self->set, NULL);
	EXPECT_EQ(THIS_PROCESS, made(self->set, ENTRY(__NR_getpid)));
	EXPECT_EQ(0, stop(&self->runner));
}

TEST_F(filtered, posted_batches_are_left_to_user_space)
{
	struct batch_slot calls[] = { SLOT(__NR_getppid) };
	long rets[] = { UNTOUCHED };
	struct batch_args args = batch_args(rets, calls, 1);

	ASSERT_EQ(0, deny());
	start(&self->runner, self->set, NULL);
	post(self->set, 0, ENTRY(__NR_batch, P(&args), sizeof(args)));
	EXPECT_EQ(-EOPNOTSUPP, end_of(&self->runner));
	EXPECT_EQ(UNTOUCHED, rets[0]);
	EXPECT_EQ(FLEXSC_BEGUN, self->set->entry[0].begun);
}

/* SIGKILL for every call but read(), write(), exit() and sigreturn(). */
TEST_F(filtered, strict_mode_forbids_to_serve)
{
	int status, ends[2];
	pid_t child = fork();

	if (!child) {
		if (pipe(ends) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
			_exit(1);
		/* Strict mode does not allow flexsc_serve(). */
		flexsc_serve(self->set);
		_exit(2);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
}

/* ---- syscall user dispatch ---- */

static char selector = SYSCALL_DISPATCH_FILTER_ALLOW;

static long dispatch_to_user(void)
{
	return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector);
}

/* Whatever the selector: only a call from user space can be sent back there. */
TEST_F(filtered, calls_are_left_to_dispatch_to_user_space)
{
	struct flexsc_entry *entry;

	if (dispatch_to_user())
		SKIP(return, "no syscall user dispatch");
	prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
	start(&self->runner, self->set, dispatch_to_user);
	entry = post(self->set, 0, ENTRY(__NR_getppid));
	EXPECT_EQ(-EOPNOTSUPP, end_of(&self->runner));
	EXPECT_EQ(FLEXSC_ENTRY_SUBMITTED, entry->status);
	EXPECT_EQ(FLEXSC_BEGUN, entry->begun);
}

/* ---- ptrace ---- */

#define SYSCALL_STOP (SIGTRAP | 0x80)
/* Whether SET's call was left, begun, by a runner that ended with RESULT. */
static bool is_left(struct flexsc_set *set, long result)
{
	return result == -EOPNOTSUPP && set->entry[0].status == FLEXSC_ENTRY_SUBMITTED &&
	       set->entry[0].begun;
}

/* A tracer that stops at calls needs real ones, which only user space can make. */
TEST(a_traced_runner_leaves_calls_to_user_space)
{
	pid_t child;
	int status;

	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	child = fork();
	if (!child) {
		struct flexsc_set *set = new_set(FLEXSC_FENCES);

		set->entry[0] = ENTRY(__NR_getppid);
		set->entry[0].status = FLEXSC_ENTRY_SUBMITTED;
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(is_left(set, flexsc_serve(set)) ? 0 : 1);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL));
	do {
		ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, child, 0, 0));
	} while (waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	EXPECT_EQ(0, status);
}

/* Finds the runner in various states: in a call, between two calls, spinning, asleep. */
TEST(tracers_come_and_go)
{
	int i, status, ready[2], end[2];
	char byte;
	pid_t child, runner_tid;

	if (!have_flexsc())
		SKIP(return, NO_FLEXSC);
	ASSERT_EQ(0, pipe(ready));
	ASSERT_EQ(0, pipe(end));
	child = fork();
	if (!child) {
		struct flexsc_set *set = new_set(FLEXSC_FENCES);
		struct runner runner;

		start(&runner, set, NULL);
		if (write(ready[1], &runner.tid, sizeof(runner.tid)) != sizeof(runner.tid))
			_exit(1);
		fcntl(end[0], F_SETFL, O_NONBLOCK);
		for (i = 0; read(end[0], &byte, 1) != 1; i++) {
			if (made(set, ENTRY(__NR_getpid)) != THIS_PROCESS)
				_exit(2);
			if (!(i % 64))
				usleep(200);
		}
		_exit(stop(&runner) ? 3 : 0);
	}
	ASSERT_EQ(sizeof(runner_tid), read(ready[0], &runner_tid, sizeof(runner_tid)));
	for (i = 0; i < 200; i++) {
		usleep(i * 7 % 300);
		ASSERT_EQ(0, ptrace(PTRACE_ATTACH, runner_tid, 0, 0));
		ASSERT_EQ(runner_tid, waitpid(runner_tid, &status, __WALL));
		ASSERT_TRUE(WIFSTOPPED(status));
		if (i % 2) {
			ptrace(PTRACE_SYSCALL, runner_tid, 0, 0);
			usleep(i * 3 % 200);
			/* It stops at a call; if it sleeps, it has to be stopped. */
			syscall(__NR_tgkill, child, runner_tid, SIGSTOP);
			waitpid(runner_tid, &status, __WALL);
		}
		ASSERT_EQ(0, ptrace(PTRACE_DETACH, runner_tid, 0, 0));
		/* The SIGSTOP may still be pending. */
		kill(child, SIGCONT);
	}
	ASSERT_EQ(1, write(end[1], "e", 1));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN

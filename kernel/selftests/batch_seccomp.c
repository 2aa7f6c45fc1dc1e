// SPDX-License-Identifier: GPL-2.0
/* seccomp and syscall user dispatch: no slot escapes them. */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "ferry_test.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#define SYSCALL_DISPATCH_FILTER_ALLOW 0
#define SYSCALL_DISPATCH_FILTER_BLOCK 1
#endif

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

/* Installs such a filter.  Returns the result of seccomp(). */
static long install(int nr, unsigned int action, unsigned int flags)
{
	struct filter filter;

	make_filter(&filter, nr, action);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter.program);
}

FIXTURE(seccomp)
{
	int file;
	long *shared;
	struct ferry_slot calls[3]; /* getpid, write, getpid */
	long rets[3];
};

FIXTURE_SETUP(seccomp)
{
	const struct ferry_slot calls[] = {
		SLOT(__NR_getpid),
		SLOT(__NR_write, 0, P("abc"), 3),
		SLOT(__NR_getpid),
	};
	int i;

	if (!have_batch())
		SKIP(return, NO_BATCH);
	self->file = memfd_create("seccomp", 0);
	ASSERT_LE(0, self->file);
	self->shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	memcpy(self->calls, calls, sizeof(calls));
	self->calls[1].arg[0] = self->file;
	for (i = 0; i < 3; i++)
		self->rets[i] = UNTOUCHED;
}

FIXTURE_TEARDOWN(seccomp)
{
}

#define EXPECT_RESULTS(write_result, written)					\
	do {									\
		EXPECT_EQ(2, batch(self->rets, self->calls, 3));		\
		EXPECT_EQ(THIS_PROCESS, self->rets[0]);				\
		EXPECT_EQ(write_result, self->rets[1]);				\
		EXPECT_EQ(THIS_PROCESS, self->rets[2]);				\
		EXPECT_EQ(written, lseek(self->file, 0, SEEK_END));		\
	} while (0)

TEST_F(seccomp, allows)
{
	ASSERT_EQ(0, install(__NR_write, SECCOMP_RET_ALLOW, 0));
	EXPECT_RESULTS(3, 3);
}

TEST_F(seccomp, logs)
{
	ASSERT_EQ(0, install(__NR_write, SECCOMP_RET_LOG, 0));
	EXPECT_RESULTS(3, 3);
}

TEST_F(seccomp, denies)
{
	ASSERT_EQ(0, install(__NR_write, SECCOMP_RET_ERRNO | ENOTNAM, 0));
	EXPECT_RESULTS(-ENOTNAM, 0);
}

TEST_F(seccomp, denies_with_zero)
{
	ASSERT_EQ(0, install(__NR_write, SECCOMP_RET_ERRNO, 0));
	EXPECT_RESULTS(0, 0);
}

TEST_F(seccomp, without_a_tracer_denies_what_one_should_see)
{
	ASSERT_EQ(0, install(__NR_write, SECCOMP_RET_TRACE | 7, 0));
	EXPECT_RESULTS(-ENOSYS, 0);
}

TEST_F(seccomp, denies_batch_itself)
{
	ASSERT_EQ(0, install(FERRY_NR_BATCH, SECCOMP_RET_ERRNO | EPERM, 0));
	EXPECT_EQ(-EPERM, batch(self->rets, self->calls, 3));
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

TEST_F(seccomp, binds_the_slot_behind_the_one_that_installs_it)
{
	struct filter filter;
	struct ferry_slot calls[] = {
		SLOT(__NR_write, self->file, P("a"), 1),
		SLOT(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		SLOT(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, P(&filter.program)),
		SLOT(__NR_write, self->file, P("b"), 1),
		SLOT(__NR_getpid),
	};
	long rets[ARRAY_SIZE(calls)];

	make_filter(&filter, __NR_write, SECCOMP_RET_ERRNO | EACCES);
	EXPECT_EQ(4, batch(rets, calls, 5));
	EXPECT_EQ(1, rets[0]);
	EXPECT_EQ(0, rets[1]);
	EXPECT_EQ(0, rets[2]);
	EXPECT_EQ(-EACCES, rets[3]);
	EXPECT_EQ(THIS_PROCESS, rets[4]);
	EXPECT_EQ(1, lseek(self->file, 0, SEEK_END));
}

/* A filter that forbids batch() does not affect the batch that installs it. */
TEST_F(seccomp, does_not_apply_in_retrospect)
{
	struct filter filter;
	struct ferry_slot calls[] = {
		SLOT(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		SLOT(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, P(&filter.program)),
		SLOT(__NR_getpid),
	};
	long rets[ARRAY_SIZE(calls)];

	make_filter(&filter, FERRY_NR_BATCH, SECCOMP_RET_KILL_PROCESS);
	EXPECT_EQ(2, batch(rets, calls, 3));
	EXPECT_EQ(THIS_PROCESS, rets[2]);
}

static int handled; /* changes in a system call, a barrier for the compiler */

static void handle(int sig)
{
	(void)sig;
	handled++;
}

/* A batch that installs a filter with ACTION for batch(), then is interrupted by a signal. */
static long interrupted_under(unsigned int action, long rets[4], long *flags)
{
	struct sigaction how = { .sa_handler = handle };
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
	sigaction(SIGUSR1, &how, NULL);
	answer = raw_call(FERRY_NR_BATCH, arg);
	*flags = arg[3];
	return answer;
}

/* Nor need it allow the batch() that continues after a signal: the caller continues. */
TEST_F(seccomp, leaves_to_its_caller_what_a_restart_may_not)
{
	static const unsigned int actions[] = {
		SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,
		SECCOMP_RET_ERRNO | EPERM
	};
	size_t i;
	pid_t pid;

	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		long *rets = self->shared, *flags = rets + 4, *answer = rets + 5;
		int status;

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

/* ---- actions that end the caller ---- */

/* The wait status of a child that ran CALLS under a filter with ACTION for write. */
static int status_under(unsigned int action, long rets[], struct ferry_slot calls[], int ncall)
{
	int status = -1;
	pid_t pid;

	pid = fork();
	if (!pid) {
		install(__NR_write, action, 0);
		batch(rets, calls, ncall);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

TEST_F(seccomp, kills)
{
	static const unsigned int actions[] = {
		SECCOMP_RET_KILL_THREAD, SECCOMP_RET_KILL_PROCESS, 0x00010000 /* unknown */
	};
	int status;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(actions); i++) {
		memset(self->shared, 0, 3 * sizeof(long));
		status = status_under(actions[i], self->shared, self->calls, 3);
		ASSERT_TRUE(WIFSIGNALED(status));
		EXPECT_EQ(SIGSYS, WTERMSIG(status));
		EXPECT_NE(0, self->shared[0]);
		EXPECT_EQ(0, self->shared[1]);
		EXPECT_EQ(0, self->shared[2]);
	}
	EXPECT_EQ(0, lseek(self->file, 0, SEEK_END));
}

TEST_F(seccomp, is_strict)
{
	struct ferry_slot calls[] = {
		SLOT(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0),
		SLOT(__NR_write, self->file, P("abc"), 3),
		SLOT(__NR_getpid),
		SLOT(__NR_write, self->file, P("abc"), 3),
	};
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		batch(self->shared, calls, 4);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
	EXPECT_EQ(3, lseek(self->file, 0, SEEK_END));
}

/* ---- actions that involve others ---- */

/* The caller has to make the call of a slot that traps: batch() returns the position. */
TEST_F(seccomp, leaves_to_its_caller_what_traps)
{
	long arg[FERRY_MAX_ARGS] = { P(self->rets), P(self->calls), 3, 0, 64, 6 };

	ASSERT_EQ(0, install(__NR_write, SECCOMP_RET_TRAP, 0));
	EXPECT_EQ(refused_at(1), raw_call(FERRY_NR_BATCH, arg));
	EXPECT_EQ(0, arg[3]);
	EXPECT_EQ(P(self->rets), arg[0]);
	EXPECT_EQ(P(self->calls), arg[1]);
	EXPECT_EQ(3, arg[2]);
	EXPECT_EQ(64, arg[4]);
	EXPECT_EQ(6, arg[5]);
	EXPECT_EQ(THIS_PROCESS, self->rets[0]);
	EXPECT_EQ(UNTOUCHED, self->rets[1]);
	EXPECT_EQ(UNTOUCHED, self->rets[2]);
	EXPECT_EQ(0, lseek(self->file, 0, SEEK_END));

	/* No slot from there on ran.  Continuing after it runs the rest. */
	arg[3] = FERRY_BATCH_RESUME | 2L << FERRY_RESUME_SHIFT;
	EXPECT_EQ(2, raw_call(FERRY_NR_BATCH, arg));
	EXPECT_EQ(THIS_PROCESS, self->rets[2]);
}

TEST_F(seccomp, leaves_the_first_slot_to_its_caller)
{
	long arg[FERRY_MAX_ARGS] = { P(self->rets), P(self->calls), 3, 0, 64, 0 };

	ASSERT_EQ(0, install(__NR_getpid, SECCOMP_RET_TRAP, 0));
	EXPECT_EQ(refused_at(0), raw_call(FERRY_NR_BATCH, arg));
	EXPECT_EQ(0, arg[3]);
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

static void *answer_one(void *arg)
{
	int listener = *(int *)arg;
	struct seccomp_notif request = {};
	struct seccomp_notif_resp response = {};
	long right;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request))
		return (void *)0;
	right = request.data.nr == __NR_write && request.data.args[2] == 3 &&
		request.data.arch == AUDIT_ARCH_X86_64 && request.data.instruction_pointer;
	response.id = request.id;
	response.val = 42;
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response))
		return (void *)0;
	return (void *)right;
}

TEST_F(seccomp, asks_a_supervisor)
{
	pthread_t supervisor;
	int listener;
	void *right;

	listener = install(__NR_write, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	ASSERT_LE(0, listener);
	ASSERT_EQ(0, pthread_create(&supervisor, NULL, answer_one, &listener));
	EXPECT_RESULTS(42, 0);
	pthread_join(supervisor, &right);
	EXPECT_NE(NULL, right);
}

TEST_F(seccomp, asks_a_tracer)
{
	unsigned long message;
	int status, seen = 0;
	pid_t pid;

	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		install(__NR_write, SECCOMP_RET_TRACE | 7, 0);
		raise(SIGSTOP);
		_exit(recovering_batch(self->shared, self->calls, 3) == 2 ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL));
	for (;;) {
		ASSERT_EQ(0, ptrace(PTRACE_CONT, pid, 0, 0));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		if (!WIFSTOPPED(status))
			break;
		ASSERT_EQ(SIGTRAP | PTRACE_EVENT_SECCOMP << 8, status >> 8);
		ASSERT_EQ(0, ptrace(PTRACE_GETEVENTMSG, pid, 0, &message));
		EXPECT_EQ(7, message);
		seen++;
	}
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, seen);
	EXPECT_EQ(3, self->shared[1]);
	EXPECT_EQ(3, lseek(self->file, 0, SEEK_END));
}

/* ---- a filter that comes while a batch runs ---- */

#define COUNT 20000
#define TRIES 40
#define TRAPS 64 /* in a try: a signal takes long in an emulated machine */
#define EMULATED 4242

static struct {
	struct ferry_slot calls[COUNT];
	long rets[COUNT];
	bool started;
	long traps;
	long wrong;
} race;

/* Calls that were not made yet become ones that the filter allows. */
static void stop_trapping(void)
{
	int i;

	for (i = 0; i < COUNT; i++)
		__atomic_store_n(&race.calls[i].nr, __NR_getpid, __ATOMIC_RELAXED);
}

/* The registers have to be those of the call that trapped. */
static void emulate(int sig, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)sig;
	if (++race.traps == TRAPS)
		stop_trapping();
	if (info->si_syscall != __NR_getuid || registers[REG_RDI] != 0x11 ||
	    registers[REG_RSI] != 0x22)
		race.wrong++;
	registers[REG_RAX] = EMULATED;
}

static void *run_many(void *arg)
{
	(void)arg;
	__atomic_store_n(&race.started, true, __ATOMIC_RELEASE);
	return (void *)recovering_batch(race.rets, race.calls, COUNT);
}

/* Returns 0, or which expectation failed. */
static int race_with_a_filter(int delay_us)
{
	const struct sigaction action = { .sa_sigaction = emulate, .sa_flags = SA_SIGINFO };
	const long expected[] = { getuid(), EMULATED, getpid() };
	const long *now = expected;
	pthread_t thread;
	void *last;
	int i;

	for (i = 0; i < COUNT; i++)
		race.calls[i] = SLOT(__NR_getuid, 0x11, 0x22, 0x33);
	if (sigaction(SIGSYS, &action, NULL) || install(999, SECCOMP_RET_ERRNO | 1, 0))
		return 1;
	pthread_create(&thread, NULL, run_many, NULL);
	wait_while(!__atomic_load_n(&race.started, __ATOMIC_ACQUIRE));
	usleep(delay_us);
	if (install(__NR_getuid, SECCOMP_RET_TRAP, SECCOMP_FILTER_FLAG_TSYNC))
		return 2;
	pthread_join(thread, &last);
	if ((long)last != COUNT - 1 || race.wrong)
		return 3;
	for (i = 0; i < COUNT; i++) {
		while (race.rets[i] != *now) {
			if (++now == expected + ARRAY_SIZE(expected))
				return 4;
		}
	}
	return 0;
}

TEST_F(seccomp, traps_only_real_calls)
{
	int i, status;
	pid_t pid;

	for (i = 0; i < TRIES; i++) {
		pid = fork();
		if (!pid)
			_exit(race_with_a_filter(200 + 37 * i));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status);
	}
}

static void no_such_call(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

/* A call that a stop interrupted is continued by restart_syscall(), which a filter may trap. */
TEST_F(seccomp, that_traps_a_restart_leaves_it_to_the_caller)
{
	const struct timespec long_time = { 1000, 0 };
	struct ferry_slot calls[] = {
		SLOT(__NR_getpid),
		SLOT(__NR_nanosleep, P(&long_time), 0),
		SLOT(__NR_getpid),
	};
	const struct sigaction action = { .sa_sigaction = no_such_call, .sa_flags = SA_SIGINFO };
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		sigaction(SIGSYS, &action, NULL);
		install(__NR_restart_syscall, SECCOMP_RET_TRAP, 0);
		self->shared[3] = batch(self->shared, calls, 3);
		_exit(0);
	}
	ASSERT_TRUE(falls_asleep(pid));
	ASSERT_EQ(0, kill(pid, SIGSTOP));
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_EQ(0, kill(pid, SIGCONT));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(refused_at(1) | FERRY_BATCH_RESTART, self->shared[3]);
}

/* ---- filters that come during a call ---- */

static struct {
	int ends[2]; /* of a pipe that is empty at first */
	pid_t tid;
	bool handled;
	long rets[3];
} late;

static void note_signal(int sig)
{
	(void)sig;
	__atomic_store_n(&late.handled, true, __ATOMIC_RELEASE);
}

static void *read_in_the_middle(void *arg)
{
	char byte;
	struct ferry_slot calls[] = {
		SLOT(__NR_getpid),
		SLOT(__NR_read, late.ends[0], P(&byte), 1),
		SLOT(__NR_getpid),
	};

	__atomic_store_n(&late.tid, syscall(__NR_gettid), __ATOMIC_RELEASE);
	recovering_batch(late.rets, calls, 3);
	return arg;
}

/* The result of a read during which a filter comes, then a signal, and then a byte. */
static long read_interrupted_late(int sa_flags)
{
	const struct sigaction action = { .sa_handler = note_signal, .sa_flags = sa_flags };
	pthread_t thread;

	if (pipe(late.ends) || sigaction(SIGUSR1, &action, NULL))
		return -1;
	pthread_create(&thread, NULL, read_in_the_middle, NULL);
	wait_while(!__atomic_load_n(&late.tid, __ATOMIC_ACQUIRE));
	/* A handler makes no restart_syscall(), so this filter must not decide about one. */
	if (!falls_asleep(late.tid) ||
	    install(__NR_restart_syscall, SECCOMP_RET_ERRNO | 1, SECCOMP_FILTER_FLAG_TSYNC))
		return -1;
	pthread_kill(thread, SIGUSR1);
	wait_while(!__atomic_load_n(&late.handled, __ATOMIC_ACQUIRE));
	if (write(late.ends[1], "x", 1) != 1)
		return -1;
	pthread_join(thread, NULL);
	return late.rets[0] == getpid() && late.rets[2] == getpid() ? late.rets[1] : -1;
}

TEST_F(seccomp, that_comes_during_a_call_leaves_signals_to_decide_about_it)
{
	static const int flags[] = { 0, SA_RESTART };
	int i, status;
	pid_t pid;

	for (i = 0; i < 2; i++) {
		pid = fork();
		if (!pid) {
			self->shared[i] = read_interrupted_late(flags[i]);
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status);
	}
	EXPECT_EQ(-EINTR, self->shared[0]);
	EXPECT_EQ(1, self->shared[1]);
}

/* ---- syscall user dispatch ---- */

static char selector = SYSCALL_DISPATCH_FILTER_ALLOW;

TEST_F(seccomp, gives_way_to_dispatch_to_user_space)
{
	long arg[FERRY_MAX_ARGS] = { P(self->rets), P(self->calls), 3, 0, 64, 0 };
	long result;

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector))
		SKIP(return, "no syscall user dispatch");
	result = raw_call(FERRY_NR_BATCH, arg);
	prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
	EXPECT_EQ(refused_at(0), result);
	EXPECT_EQ(0, arg[3]);
	EXPECT_EQ(UNTOUCHED, self->rets[0]);
}

TEST_HARNESS_MAIN

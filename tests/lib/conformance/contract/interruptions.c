// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What comes between the interruption of a call and the decision what becomes of it: a stop, the
 * freezer, a tracer, a handler that changes the slots.  Signal delivery decides, as without a
 * batch.
 */
#include <sched.h>
#include <setjmp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#include "suite.h"
#include "write_file.h"

#define PATIENCE_MS 10000

static void handle(int sig)
{
	(void)sig;
}

static void catch_signal(int sig, void (*handler)(int), int flags)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	expect(!sigaction(sig, &action, NULL));
}

/* Kills PID and fails if it does not end. */
static void expect_end(pid_t pid)
{
	pid_t ended = 0;
	int status;
	int i;

	for (i = 0; i < PATIENCE_MS && !ended; i++) {
		ended = waitpid(pid, &status, WNOHANG);
		usleep(1000);
	}
	if (!ended) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	expect_equal(ended, pid);
	expect_equal(status, 0);
}

/* ---- calls that wait ---- */

struct wait {
	struct batch_slot slot;
	int sig; /* has a handler without SA_RESTART */
	long result;
};

static const unsigned long no_signals;

/* A batch that waits, and then makes another call. */
static void wait_for_signal(void *arg)
{
	const struct wait *wait = arg;
	const struct batch_slot calls[] = { wait->slot, SLOT(SYS_getppid) };
	long rets[2] = { UNTOUCHED, UNTOUCHED };

	catch_signal(wait->sig, handle, 0);
	expect_equal(run_batch(rets, calls, 2), 1);
	expect_equal(rets[0], wait->result);
	expect_equal(rets[1], getppid());
}

static struct batch_slot read_nothing(void)
{
	static char byte;
	int ends[2];

	expect(!pipe2(ends, O_CLOEXEC));
	return SLOT(SYS_read, ends[0], &byte, 1);
}

static void interrupt_while_stopped(struct batch_slot slot)
{
	struct wait wait = { slot, SIGUSR1, -EINTR };
	pid_t pid = child_start(wait_for_signal, &wait);
	int status;

	wait_until_asleep(pid);
	kill(pid, SIGSTOP);
	expect_equal(waitpid(pid, &status, WUNTRACED), pid);
	kill(pid, SIGUSR1);
	kill(pid, SIGCONT);
	expect_end(pid);
}

TEST(a_signal_during_a_stop_ends_the_call)
{
	int i;

	for (i = 0; i < repeats(); i++) {
		interrupt_while_stopped(read_nothing());
#ifdef SYS_pause
		interrupt_while_stopped(SLOT(SYS_pause));
#endif
		interrupt_while_stopped(SLOT(SYS_ppoll, NULL, 0, NULL, &no_signals, 8));
		interrupt_while_stopped(SLOT(SYS_rt_sigsuspend, &no_signals, 8));
	}
}

/* ---- the freezer of cgroup 2 ---- */

/*
 * Tests at the same time see the same groups, so each makes one of its own.  They also have a mount
 * point each: removing a directory unmounts what other namespaces have there.
 */
static char groups[32];
static char frozen[64];

static const char *in_frozen(const char *file)
{
	static char path[sizeof(frozen) + 16];

	snprintf(path, sizeof(path), "%s/cgroup.%s", frozen, file);
	return path;
}

static void wait_until_frozen(void)
{
	char text[256] = "";
	int i;

	for (i = 0; !strstr(text, "frozen 1"); i++) {
		int fd = open(in_frozen("events"), O_RDONLY | O_CLOEXEC);
		ssize_t size = read(fd, text, sizeof(text) - 1);

		close(fd);
		expect(size > 0 && i < PATIENCE_MS);
		text[size] = '\0';
		usleep(1000);
	}
}

static void interrupt_while_frozen(struct batch_slot slot)
{
	struct wait wait = { slot, SIGUSR1, -EINTR };
	pid_t pid = child_start(wait_for_signal, &wait);
	char number[16];

	snprintf(number, sizeof(number), "%d", pid);
	expect(write_file(in_frozen("procs"), number));
	wait_until_asleep(pid);
	expect(write_file(in_frozen("freeze"), "1"));
	wait_until_frozen();
	kill(pid, SIGUSR1);
	expect(write_file(in_frozen("freeze"), "0"));
	expect_end(pid);
}

TEST(a_signal_in_the_freezer_ends_the_call)
{
	int i;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		suite_skip("mounting a control group hierarchy takes privileges");
	snprintf(groups, sizeof(groups), "/tmp/ferry-cgroup-XXXXXX");
	expect(mkdtemp(groups));
	snprintf(frozen, sizeof(frozen), "%s/ferry-XXXXXX", groups);
	if (mount("none", groups, "cgroup2", 0, NULL) || !mkdtemp(frozen)) {
		umount(groups);
		rmdir(groups);
		suite_skip("there is no freezer of cgroup 2");
	}
	for (i = 0; i < repeats(); i++) {
		interrupt_while_frozen(read_nothing());
		interrupt_while_frozen(SLOT(SYS_rt_sigsuspend, &no_signals, 8));
	}
	rmdir(frozen);
	umount(groups);
	rmdir(groups);
}

/* ---- tracers that take signals away, or send others ---- */

/* SEIZE does not make a tracer see calls, so the batch stays in the kernel. */
static void replace_signal(pid_t pid, int sig, int by)
{
	int status;

	wait_until_asleep(pid);
	expect(!ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_EXITKILL));
	kill(pid, sig);
	expect_equal(waitpid(pid, &status, 0), pid);
	expect(WIFSTOPPED(status));
	expect(!ptrace(PTRACE_CONT, pid, NULL, (void *)(long)by));
}

static void detach(pid_t pid)
{
	int status;

	expect(!ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
	expect_equal(waitpid(pid, &status, 0), pid);
	expect(!ptrace(PTRACE_DETACH, pid, NULL, NULL));
}

TEST(a_signal_that_a_tracer_sends_ends_the_call)
{
	struct wait wait = { .sig = SIGUSR1, .result = -EINTR };
	pid_t pid;
	int i;

	for (i = 0; i < repeats(); i++) {
		wait.slot = read_nothing();
		pid = child_start(wait_for_signal, &wait);
		replace_signal(pid, SIGCHLD, SIGUSR1);
		expect_end(pid);
	}
}

TEST(a_signal_that_a_tracer_takes_away_does_not_end_the_call)
{
	struct wait wait = { .sig = SIGUSR1, .result = 1 };
	static char byte;
	int ends[2];
	pid_t pid;
	int i;

	for (i = 0; i < repeats(); i++) {
		expect(!pipe2(ends, O_CLOEXEC));
		wait.slot = SLOT(SYS_read, ends[0], &byte, 1);
		pid = child_start(wait_for_signal, &wait);
		replace_signal(pid, SIGUSR1, 0);
		wait_until_asleep(pid);
		detach(pid);
		wait_until_asleep(pid);
		expect_equal(write(ends[1], "x", 1), 1);
		expect_end(pid);
		close(ends[0]);
		close(ends[1]);
	}
}

/* ---- the init process of a namespace, which default actions do not affect ---- */

static int file;

static int be_init(void *arg)
{
	const unsigned long mask = 1UL << (SIGTERM - 1);
	const struct batch_slot calls[] = {
		SLOT(SYS_write, file, "a", 1),
		SLOT(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, 8),
		SLOT(SYS_write, file, "b", 1),
		SLOT(SYS_getpid),
	};
	long rets[4];

	(void)arg;
	signal(SIGTERM, SIG_DFL);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, 8);
	kill(getpid(), SIGTERM);
	return run_batch(rets, calls, 4) == 3 && rets[0] == 1 && rets[1] == 0 && rets[2] == 1 &&
			       rets[3] == 1 ?
		       0 :
		       1;
}

TEST(the_init_process_ignores_signals_without_a_handler)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	int status;
	pid_t pid;
	int i;

	for (i = 0; i < repeats(); i++) {
		file = memfd_create("init", MFD_CLOEXEC);
		pid = clone(be_init, stack + sizeof(stack), CLONE_NEWPID | SIGCHLD, NULL);
		if (pid < 0)
			suite_skip("a namespace takes privileges");
		expect_equal(waitpid(pid, &status, 0), pid);
		expect_equal(status, 0);
		expect_equal(lseek(file, 0, SEEK_END), 2);
		close(file);
	}
}

static int store_nowhere(void *arg)
{
	const struct batch_slot call = SLOT(SYS_getpid);

	signal(SIGSEGV, SIG_DFL);
	run_batch(arg, &call, 1);
	return 0;
}

TEST(the_init_process_does_not_survive_a_bad_array_of_results)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	int status;
	pid_t pid;

	pid = clone(store_nowhere, stack + sizeof(stack), CLONE_NEWPID | SIGCHLD, (void *)8);
	if (pid < 0)
		suite_skip("a namespace takes privileges");
	expect_equal(waitpid(pid, &status, 0), pid);
	expect(WIFSIGNALED(status));
	expect_equal(WTERMSIG(status), SIGSEGV);
}

/* ---- handlers that change the slots ---- */

static struct batch_slot changing[1];
static int wake_fd;

static void interrupt_parent(void *arg)
{
	(void)arg;
	wait_until_asleep(getppid());
	kill(getppid(), SIGUSR1);
}

/* A pipe that HANDLER writes to, so that the call which it interrupts can end. */
static void make_pipe_for(void (*handler)(int), int ends[2])
{
	expect(!pipe2(ends, O_CLOEXEC));
	wake_fd = ends[1];
	catch_signal(SIGUSR1, handler, SA_RESTART);
}

static void change_slot(int sig)
{
	(void)sig;
	changing[0] = jumping(SLOT(SYS_getppid), 0, 0, -1);
	(void)!write(wake_fd, "w", 1);
}

TEST(a_restarted_call_is_the_one_that_was_interrupted)
{
	int ends[2];
	pid_t pid;
	char byte;
	long ret;
	int i;

	make_pipe_for(change_slot, ends);
	for (i = 0; i < repeats(); i++) {
		changing[0] = SLOT(SYS_read, ends[0], &byte, 1);
		pid = child_start(interrupt_parent, NULL);
		expect_equal(run_batch(&ret, changing, 1), 0);
		expect_equal(ret, 1);
		expect_end(pid);
	}
	close(ends[0]);
	close(ends[1]);
}

static long results[2];

static void change_result(int sig)
{
	(void)sig;
	results[0] = -1;
	(void)!write(wake_fd, "w", 1);
}

TEST(a_restarted_call_keeps_the_result_it_was_given)
{
	struct batch_slot calls[2];
	int ends[2];
	pid_t pid;
	char byte;
	int i;

	make_pipe_for(change_result, ends);
	calls[0] = SLOT(SYS_fcntl, ends[0], F_DUPFD_CLOEXEC, 0);
	calls[1] = forwarding(SLOT(SYS_read, 0, &byte, 1), 0, 1);
	for (i = 0; i < repeats(); i++) {
		pid = child_start(interrupt_parent, NULL);
		expect_equal(run_batch(results, calls, 2), 1);
		expect_equal(results[0], -1);
		expect_equal(results[1], 1);
		expect_end(pid);
	}
	close(ends[0]);
	close(ends[1]);
}

#define AT_ONCE 32

static int *in_handlers; /* shared by those whose calls are interrupted at once */

static void change_slot_together(int sig)
{
	__atomic_add_fetch(in_handlers, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(in_handlers, __ATOMIC_RELAXED) < AT_ONCE)
		usleep(1000);
	change_slot(sig);
}

static void be_one_of_many(void *arg)
{
	int ends[2];
	char byte;
	long ret;

	(void)arg;
	make_pipe_for(change_slot_together, ends);
	changing[0] = SLOT(SYS_read, ends[0], &byte, 1);
	expect_equal(run_batch(&ret, changing, 1), 0);
	expect_equal(ret, 1);
}

TEST(many_calls_may_be_interrupted_at_once)
{
	pid_t pids[AT_ONCE];
	int i;

	in_handlers = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect(in_handlers != MAP_FAILED);
	for (i = 0; i < AT_ONCE; i++)
		pids[i] = child_start(be_one_of_many, NULL);
	for (i = 0; i < AT_ONCE; i++)
		wait_until_asleep(pids[i]);
	for (i = 0; i < AT_ONCE; i++)
		kill(pids[i], SIGUSR1);
	for (i = 0; i < AT_ONCE; i++)
		expect_end(pids[i]);
}

/* ---- handlers that fork, or run other batches on the same slots ---- */

static pid_t forked;

static void fork_and_change_slot(int sig)
{
	forked = fork();
	change_slot(sig);
}

TEST(a_call_is_restarted_in_a_child_of_the_handler_too)
{
	int ends[2], status;
	pid_t pid;
	char byte;
	long ret;
	int i;

	make_pipe_for(fork_and_change_slot, ends);
	for (i = 0; i < repeats(); i++) {
		changing[0] = SLOT(SYS_read, ends[0], &byte, 1);
		pid = child_start(interrupt_parent, NULL);
		expect_equal(run_batch(&ret, changing, 1), 0);
		expect_equal(ret, 1);
		if (!forked)
			_exit(0);
		expect_equal(waitpid(forked, &status, 0), forked);
		expect_equal(status, 0);
		expect_end(pid);
	}
	close(ends[0]);
	close(ends[1]);
}

static int *nesting; /* shared: 1 from when the handler runs its batch, 2 when that is over */
static int inner_ends[2];
static bool leaves_by_jump;
static sigjmp_buf handler;

static void wait_until_nesting(int stage)
{
	int i;

	for (i = 0; i < PATIENCE_MS && __atomic_load_n(nesting, __ATOMIC_SEQ_CST) != stage; i++)
		usleep(1000);
	expect(i < PATIENCE_MS);
}

static void end_nested(int sig)
{
	(void)sig;
	if (leaves_by_jump)
		siglongjmp(handler, 1);
	(void)!write(inner_ends[1], "i", 1);
}

static void nest(int sig)
{
	char byte;
	long ret;

	(void)sig;
	changing[0] = SLOT(SYS_read, inner_ends[0], &byte, 1);
	if (!sigsetjmp(handler, 1)) {
		__atomic_store_n(nesting, 1, __ATOMIC_SEQ_CST);
		expect_equal(run_batch(&ret, changing, 1), 0);
		expect_equal(ret, 1);
	}
	changing[0] = SLOT(SYS_getppid);
	__atomic_store_n(nesting, 2, __ATOMIC_SEQ_CST);
}

/* Interrupts the parent's batch, then the one in the handler, and then lets the first go on. */
static void interrupt_parent_twice(void *arg)
{
	(void)arg;
	wait_until_asleep(getppid());
	kill(getppid(), SIGUSR1);
	wait_until_nesting(1);
	wait_until_asleep(getppid());
	kill(getppid(), SIGUSR2);
	wait_until_nesting(2);
	expect_equal(write(wake_fd, "o", 1), 1);
}

static void nest_on_the_same_slots(void)
{
	int ends[2];
	char byte = 0;
	pid_t pid;
	long ret;

	nesting = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	expect(nesting != MAP_FAILED);
	make_pipe_for(nest, ends);
	expect(!pipe2(inner_ends, O_CLOEXEC));
	catch_signal(SIGUSR2, end_nested, SA_RESTART);
	changing[0] = SLOT(SYS_read, ends[0], &byte, 1);
	pid = child_start(interrupt_parent_twice, NULL);
	expect_equal(run_batch(&ret, changing, 1), 0);
	expect_equal(ret, 1);
	expect_equal(byte, 'o');
	expect_end(pid);
	munmap(nesting, PAGE);
	close(ends[0]);
	close(ends[1]);
	close(inner_ends[0]);
	close(inner_ends[1]);
}

TEST(a_batch_in_a_handler_does_not_change_the_call_that_is_restarted)
{
	int i;

	for (i = 0; i < repeats(); i++)
		nest_on_the_same_slots();
}

TEST(a_batch_that_a_handler_leaves_does_not_change_the_call_that_is_restarted)
{
	int i;

	leaves_by_jump = true;
	for (i = 0; i < repeats(); i++)
		nest_on_the_same_slots();
}

/* 128 slots on two pages: a signal, whose handler may change the second page, and a jump there. */
static struct batch_slot *calls_on_two_pages;
static long rets_of_two_pages[128];

#define FIRST_ON_SECOND_PAGE 64

static void new_calls_on_two_pages(void)
{
	void *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	expect(pages != MAP_FAILED);
	calls_on_two_pages = pages;
	for (i = 0; i < 128; i++) {
		calls_on_two_pages[i] = SLOT(SYS_getpid);
		rets_of_two_pages[i] = UNTOUCHED;
	}
	calls_on_two_pages[0] =
		jumping(SLOT(SYS_kill, getpid(), SIGUSR1), 0, FIRST_ON_SECOND_PAGE - 1, 0);
}

/* Runs these slots, and expects RESULT from the last one; UNTOUCHED: it does not run. */
static void run_calls_on_two_pages(long result)
{
	long last = run_batch(rets_of_two_pages, calls_on_two_pages, FIRST_ON_SECOND_PAGE + 1);
	int i;

	expect_equal(last, result == UNTOUCHED ? 0 : FIRST_ON_SECOND_PAGE);
	expect_equal(rets_of_two_pages[0], 0);
	for (i = 1; i < FIRST_ON_SECOND_PAGE; i++)
		expect_equal(rets_of_two_pages[i], UNTOUCHED);
	expect_equal(rets_of_two_pages[FIRST_ON_SECOND_PAGE], result);
	munmap(calls_on_two_pages, 2 * PAGE);
}

static void unmap(int sig)
{
	(void)sig;
	munmap(calls_on_two_pages + FIRST_ON_SECOND_PAGE, PAGE);
}

TEST(a_slot_that_a_handler_unmaps_does_not_run)
{
	int i;

	catch_signal(SIGUSR1, unmap, 0);
	for (i = 0; i < repeats(); i++) {
		new_calls_on_two_pages();
		run_calls_on_two_pages(UNTOUCHED);
	}
}

/* From now on user space has to make each call of this thread. */
static void unmap_and_watch(int sig)
{
	static const char allow; /* SYSCALL_DISPATCH_FILTER_ALLOW */

	unmap(sig);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &allow))
		suite_skip("there is no syscall user dispatch");
}

TEST(a_slot_that_a_handler_unmaps_is_not_left_to_the_caller)
{
	catch_signal(SIGUSR1, unmap_and_watch, 0);
	new_calls_on_two_pages();
	run_calls_on_two_pages(UNTOUCHED);
}

static void unprotect(int sig)
{
	(void)sig;
	mprotect(calls_on_two_pages + FIRST_ON_SECOND_PAGE, PAGE, PROT_READ);
}

TEST(a_slot_that_a_handler_makes_readable_runs)
{
	catch_signal(SIGUSR1, unprotect, 0);
	new_calls_on_two_pages();
	expect(!mprotect(calls_on_two_pages + FIRST_ON_SECOND_PAGE, PAGE, PROT_NONE));
	run_calls_on_two_pages(getpid());
}

/* ---- results that look like the kernel's codes for restarts ---- */

static void own_by_group(void *arg)
{
	int ends[2];
	long ret;

	(void)arg;
	expect(!setpgid(0, 0));
	expect(!pipe2(ends, O_CLOEXEC));
	expect(!fcntl(ends[0], F_SETOWN, -getpid()));
	const struct batch_slot call = SLOT(SYS_fcntl, ends[0], F_GETOWN, 0);

	expect_equal(run_batch(&ret, &call, 1), 0);
	expect_equal(ret, -getpid());
}

/* The owner of a descriptor may be process group 513, which is -513. */
TEST(a_result_may_look_like_a_restart)
{
	int i;

	for (i = 0; i < 5 * repeats(); i++) {
		char before[16];

		snprintf(before, sizeof(before), "%d", 511 + i % 5);
		if (!write_file("/proc/sys/kernel/ns_last_pid", before))
			suite_skip("choosing process IDs takes privileges");
		expect_child(own_by_group, NULL);
	}
}

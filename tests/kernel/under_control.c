// SPDX-License-Identifier: MIT
/* Tracers, counters and supervisors of a program: what they see of its calls, and when. */
#include <elf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#ifdef __riscv
#include <asm/ptrace.h>
#endif

#include "beside.h"
#include "tests/lib/conformance/contract/filter.h"

/* ---- tracers ---- */

static void go_on(pid_t pid, int sig)
{
	expect(!ptrace(PTRACE_CONT, pid, 0, sig));
}

static void ask_to_be_traced(void *arg)
{
	struct script *s = new_script();

	(void)arg;
	add_slot(s, SLOT(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0));
	add_slot(s, SLOT(SYS_tgkill, getpid(), gettid(), SIGSTOP));
	add_slot(s, SLOT(SYS_getuid));
	add_slot(s, SLOT(SYS_tgkill, getpid(), gettid(), SIGUSR1));
	add_slot(s, SLOT(SYS_getgid));
	run_script(s);
}

BESIDE_THE_LOOP(a_slot_may_ask_to_be_traced)
{
	pid_t pid = child_start(ask_to_be_traced, NULL);

	tell_status(pid);
	go_on(pid, 0);
	tell_status(pid);
	go_on(pid, 0);
	tell_status(pid);
}

static int ends[2];

static void wait_twice(void *arg)
{
	static char bytes[3];
	static const struct timespec pause = { .tv_nsec = 300000000 };
	struct script *s = new_script();

	(void)arg;
	add_slot(s, SLOT(SYS_read, ends[0], bytes, 3));
	add_slot(s, SLOT(SYS_nanosleep, &pause, NULL));
	add_slot(s, SLOT(SYS_getuid));
	add_slot(s, SLOT(SYS_read, ends[0], bytes, 3));
	run_script(s);
}

/* Reads and writes back the registers at each stop, as tools for checkpoints do. */
static void interrupt(pid_t pid)
{
	struct user_regs_struct registers;
	struct iovec vector = { &registers, sizeof(registers) };

	expect(!ptrace(PTRACE_INTERRUPT, pid, 0, 0));
	tell_status(pid);
	expect(!ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &vector));
	expect(!ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &vector));
	go_on(pid, 0);
}

BESIDE_THE_LOOP(calls_that_wait_go_on_after_a_tracer_has_interrupted_them)
{
	pid_t pid;
	int i;

	expect(!pipe(ends));
	pid = child_start(wait_twice, NULL);
	wait_until_asleep(pid);
	expect(!ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD));
	for (i = 0; i < 3; i++) {
		interrupt(pid);
		wait_until_asleep(pid);
	}
	expect_equal(write(ends[1], "abc", 3), 3);
	wait_until_asleep(pid);
	interrupt(pid);
	expect(!kill(pid, SIGSTOP));
	tell_status(pid);
	go_on(pid, SIGSTOP);
	tell_status(pid);
	expect(!ptrace(PTRACE_LISTEN, pid, 0, 0));
	expect(!kill(pid, SIGCONT));
	tell_status(pid);
	go_on(pid, 0);
	tell_status(pid);
	go_on(pid, SIGCONT);
	expect_equal(write(ends[1], "abc", 3), 3);
	tell_status(pid);
}

/* ---- a counter of calls ---- */

static long tracepoint(void)
{
	FILE *file = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
	long id = -1;

	if (!file || fscanf(file, "%ld", &id) != 1)
		suite_skip("needs the tracepoints of system calls");
	fclose(file);
	return id;
}

BESIDE_THE_LOOP(a_counter_that_a_slot_turns_on_counts_the_next)
{
	struct perf_event_attr attributes = { .type = PERF_TYPE_TRACEPOINT,
					      .size = sizeof(attributes),
					      .disabled = 1 };
	long *counts = shared_memory(PAGE);
	struct script *s = new_script();
	unsigned int counter;

	attributes.config = (unsigned long)tracepoint();
	counter = add_slot(s, SLOT(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
	add_slot(s, SLOT(SYS_getuid));
	add_taking(s, 0, counter, SLOT(SYS_read, 0, &counts[0], 8));
	add_taking(s, 0, counter, SLOT(SYS_ioctl, 0, PERF_EVENT_IOC_ENABLE, 0));
	add_slot(s, SLOT(SYS_getuid));
	add_slot(s, SLOT(SYS_getuid));
	add_taking(s, 0, counter, SLOT(SYS_read, 0, &counts[1], 8));
	add_taking(s, 0, counter, SLOT(SYS_ioctl, 0, PERF_EVENT_IOC_DISABLE, 0));
	add_slot(s, SLOT(SYS_getuid));
	add_taking(s, 0, counter, SLOT(SYS_read, 0, &counts[2], 8));
	run_script(s);
	/* The call that makes the batch is counted as well, in place of none in the loop. */
	tell("%ld %d %d\n", counts[0], counts[1] >= 3, counts[2] == counts[1] + 1);
}

/* ---- a supervisor that is asked about batch() itself ---- */

#define QUESTIONS 4 /* one for the batch, and one for its restart after each of three signals */

struct supervised {
	int listener;
	unsigned int asked;
	struct seccomp_data data[QUESTIONS + 1];
};

static void *allow_batches(void *arg)
{
	struct supervised *supervised = arg;
	struct seccomp_notif question;
	struct seccomp_notif_resp response = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	for (;;) {
		memset(&question, 0, sizeof(question));
		if (ioctl(supervised->listener, SECCOMP_IOCTL_NOTIF_RECV, &question))
			continue; /* the call was interrupted before it was shown */
		if (supervised->asked <= QUESTIONS)
			supervised->data[supervised->asked] = question.data;
		supervised->asked++;
		response.id = question.id;
		ioctl(supervised->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
	return NULL;
}

static void ignore(int sig)
{
	(void)sig;
}

static void interrupt_three_times(void *arg)
{
	pid_t parent = getppid();
	int i;

	(void)arg;
	for (i = 0; i < QUESTIONS - 1; i++) {
		usleep(200000);
		wait_until_asleep(parent);
		kill(parent, SIGUSR1);
	}
	usleep(200000);
	expect_equal(write(ends[1], "abc", 3), 3);
}

TEST(a_supervisor_is_asked_about_the_same_batch_after_each_signal)
{
	static const int numbers[] = { FERRY_NR_BATCH };
	static struct supervised supervised;
	static struct filter filter;
	static char bytes[3];
	struct batch_slot calls[2];
	sigset_t usr1;
	long rets[2];
	unsigned int i;

	if (engine == FERRY_DEVICE)
		suite_skip("is about the system call");
	expect(!pipe(ends));
	calls[0] = SLOT(SYS_read, ends[0], bytes, 3);
	calls[1] = SLOT(SYS_getuid);
	handle(SIGUSR1, ignore, SA_RESTART);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	filter_make(&filter, numbers, 1, SECCOMP_RET_USER_NOTIF, SECCOMP_RET_ALLOW);
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	supervised.listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
					   SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter.program);
	expect(supervised.listener >= 0);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	thread_start(allow_batches, &supervised);
	sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	child_start(interrupt_three_times, NULL);
	expect_equal(run_batch(rets, calls, 2), 1);
	expect_equal(rets[0], 3);
	expect_equal(supervised.asked, QUESTIONS);
	/* The restart is the same call: the structure and its size, as batch(2) describes it. */
	for (i = 0; i < QUESTIONS; i++) {
		expect_equal(supervised.data[i].nr, FERRY_NR_BATCH);
		expect_equal(supervised.data[i].args[0], supervised.data[0].args[0]);
		expect_equal(supervised.data[i].args[1], sizeof(struct batch_args));
	}
}

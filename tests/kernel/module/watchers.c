// SPDX-License-Identifier: MIT
/* The module makes no calls for a watched task; the library makes them. */
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <time.h>

#include "device.h"

#define EVENTS "/sys/kernel/tracing/events/syscalls/enable"

static void expect_refused(int fd)
{
	const struct batch_slot slot = SLOT(SYS_getpid);
	long ret = UNTOUCHED;
	struct batch_args args = device_args(&ret, &slot, 1);

	expect_device_refuses(fd, &args, 0, BATCH_BEGIN);
	expect_equal(ret, UNTOUCHED);
	expect_library_runs();
}

static void be_traced(void *fd)
{
	expect(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	expect_refused(*(int *)fd);
}

TEST(a_traced_task_is_refused)
{
	int fd = device_open();
	pid_t child = child_start(be_traced, &fd);
	int status;

	expect_equal(waitpid(child, &status, 0), child);
	expect(WIFSTOPPED(status));
	do
		expect(!ptrace(PTRACE_SYSCALL, child, NULL, NULL));
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status));
	expect_equal(status, 0);
	expect_device_runs(fd);
}

/* ---- a tracer that attaches while a call sleeps ---- */

static void sleep_in_batch(void *arg)
{
	const struct timespec time = { 0, 700000000 };
	const struct batch_slot calls[] = {
		SLOT(SYS_getpid),
		SLOT(SYS_nanosleep, &time, NULL),
		SLOT(SYS_getppid),
	};
	long rets[3];

	(void)arg;
	expect_equal(ferry_batch_on(FERRY_DEVICE, rets, calls, 3, 0, 0), 2);
	expect_equal(rets[0], getpid());
	expect_equal(rets[1], 0);
	expect_equal(rets[2], getppid());
}

static void wait_for_the_sleep(pid_t pid)
{
	char path[64];
	char line[512];
	FILE *file;
	char *state;

	snprintf(path, sizeof(path), "/proc/%d/wchan", pid);
	do {
		usleep(10000);
		file = fopen(path, "r");
		expect(file != NULL);
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		fclose(file);
		state = strstr(line, "nanosleep");
	} while (!state);
}

/* Records the calls that CHILD makes until it ends, up to the room available. */
static int follow(pid_t child, long numbers[], int room)
{
	struct __ptrace_syscall_info info;
	int count = 0;
	int status;

	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info) > 0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY && count < room)
			numbers[count++] = (long)info.entry.nr;
		expect(!ptrace(PTRACE_SYSCALL, child, NULL, NULL));
	}
	expect_equal(status, 0);
	return count;
}

/* The call is not made again: it continues, and so does the batch. */
TEST(a_sleep_goes_on_under_a_tracer)
{
	pid_t child = child_start(sleep_in_batch, NULL);
	bool restarted = false;
	bool went_on = false;
	long numbers[64];
	int count;
	int i;

	wait_for_the_sleep(child);
	expect(!ptrace(PTRACE_SEIZE, child, NULL, (void *)PTRACE_O_TRACESYSGOOD));
	expect(!ptrace(PTRACE_INTERRUPT, child, NULL, NULL));
	count = follow(child, numbers, 64);
	for (i = 0; i < count; i++) {
		restarted |= numbers[i] == SYS_restart_syscall;
		went_on |= restarted && numbers[i] == SYS_getppid;
		expect(numbers[i] != SYS_nanosleep);
	}
	expect(restarted && went_on);
}

/* ---- watchers without a tracer ---- */

static void be_dispatched(void *fd)
{
	static char selector = PR_SYS_DISPATCH_OFF; /* SYSCALL_DISPATCH_FILTER_ALLOW */

	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector))
		suite_skip("this kernel has no syscall user dispatch");
	expect_refused(*(int *)fd);
}

TEST(a_task_with_user_dispatch_is_refused)
{
	int fd = device_open();

	be_dispatched(&fd);
}

static void expect_written(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	expect(file >= 0);
	expect_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
}

TEST(a_task_with_syscall_tracepoints_is_refused)
{
	int fd = device_open();

	if (access(EVENTS, W_OK))
		suite_skip("there is no " EVENTS);
	expect_written(EVENTS, "1");
	expect_refused(fd);
	expect_written(EVENTS, "0");
	expect_device_runs(fd);
}

// SPDX-License-Identifier: MIT
/* No call of a batch bypasses a seccomp filter, whoever installed it and when. */
#include <pthread.h>
#include <sys/prctl.h>

#include "device.h"
#include "tests/lib/conformance/contract/filter.h"

#define FORBIDDEN "/dev/shm/ferry-forbidden"

static void install(int nr, unsigned int action)
{
	struct filter filter;

	filter_one(&filter, nr, action);
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	filter_install(&filter);
}

/* ---- a sandbox around the whole process ---- */

static void break_out(void *engine)
{
	struct ferry_slot calls[] = {
		SLOT(SYS_getpid),
		SLOT(SYS_mkdir, FORBIDDEN, 0700),
		SLOT(SYS_mkdir, FORBIDDEN "2", 0700),
	};
	long rets[3];

	expect_library_runs(); /* the descriptor was opened earlier, like an inherited one */
	install(SYS_mkdir, SECCOMP_RET_KILL_PROCESS);
	ferry_batch_on(*(enum ferry_engine *)engine, rets, calls, 3, 0, 0);
}

TEST(a_forbidden_call_kills_a_batch)
{
	static enum ferry_engine engines[] = { FERRY_DEVICE, FERRY_AUTO };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(engines); i++)
		expect_killed(break_out, &engines[i], SIGSYS);
	expect_equal(access(FORBIDDEN, F_OK), -1);
	expect_equal(access(FORBIDDEN "2", F_OK), -1);
}

static void break_out_raw(void *fd)
{
	const struct ferry_slot slot = SLOT(SYS_mkdir, FORBIDDEN, 0700);
	long ret = UNTOUCHED;
	struct ferry_batch_args args = device_args(&ret, &slot, 1);

	install(SYS_mkdir, SECCOMP_RET_KILL_PROCESS);
	expect_device_refuses(*(int *)fd, &args, 0);
	expect_device_refuses(*(int *)fd, &args, 0);
	expect_equal(ret, UNTOUCHED);
}

TEST(the_module_makes_no_call_of_a_filtered_task)
{
	int fd = device_open();

	expect_child(break_out_raw, &fd);
	expect_equal(access(FORBIDDEN, F_OK), -1);
}

/* A filter like those of containers: some calls fail, the others are made. */
static void live_in_container(void *arg)
{
	struct ferry_slot calls[] = {
		SLOT(SYS_mount, "none", "/", "tmpfs", 0, NULL),
		SLOT(SYS_getpid),
		SLOT(SYS_mkdir, FORBIDDEN, 0700),
		SLOT(SYS_getppid),
	};
	static const int numbers[] = { SYS_mount, SYS_mkdir, SYS_ptrace };
	struct filter filter;
	long rets[4];
	int i;

	(void)arg;
	filter_make(&filter, numbers, 3, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	filter_install(&filter);
	for (i = 0; i < 100; i++) {
		expect_equal(ferry_batch_on(FERRY_DEVICE, rets, calls, 4, 0, 0), 3);
		expect_equal(rets[0], -EPERM);
		expect_equal(rets[1], getpid());
		expect_equal(rets[2], -EPERM);
		expect_equal(rets[3], getppid());
	}
}

TEST(a_container_refuses_what_it_refuses_alone)
{
	expect_child(live_in_container, NULL);
	expect_equal(access(FORBIDDEN, F_OK), -1);
}

/* ---- a filter installed in the middle ---- */

static void confine_itself(void *fd)
{
	struct filter filter;
	const struct ferry_slot calls[] = {
		SLOT(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		SLOT(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter.program),
		SLOT(SYS_mkdir, FORBIDDEN, 0700),
		SLOT(SYS_getpid),
	};
	long rets[4] = { UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED };
	struct ferry_batch_args args = device_args(rets, calls, 4);

	filter_one(&filter, SYS_mkdir, SECCOMP_RET_KILL_PROCESS);
	if (!fd) {
		ferry_batch_on(FERRY_DEVICE, rets, calls, 4, 0, 0);
		return;
	}
	expect_device_refuses(*(int *)fd, &args, 2);
	expect_equal(rets[1], 0);
	expect_equal(rets[2], UNTOUCHED);
}

TEST(a_slots_filter_binds_the_next_slot)
{
	int fd = device_open();

	expect_child(confine_itself, &fd);
	expect_killed(confine_itself, NULL, SIGSYS);
	expect_equal(access(FORBIDDEN, F_OK), -1);
}

/* ---- a filter that another thread installs ---- */

#define SLOTS 500

static int installed;
static long parent;

static void *install_for_all(void *arg)
{
	struct filter filter;

	(void)arg;
	filter_one(&filter, SYS_getppid, SECCOMP_RET_ERRNO | EXDEV);
	usleep(20000);
	expect(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			&filter.program));
	__atomic_store_n(&installed, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* After one call was refused, none is made, and none begun after the filter was installed. */
static void expect_order(const long rets[], bool from_the_start)
{
	bool refused = from_the_start;
	int i;

	for (i = 0; i < SLOTS; i++) {
		if (rets[i] == -EXDEV)
			refused = true;
		else
			expect(!refused && rets[i] == parent);
	}
}

static void run_while_it_comes(void *arg)
{
	static struct ferry_slot calls[SLOTS];
	static long rets[SLOTS];
	bool was_installed = false;
	pthread_t thread;
	int i;

	(void)arg;
	parent = getppid();
	for (i = 0; i < SLOTS; i++)
		calls[i] = SLOT(SYS_getppid);
	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	expect(!pthread_create(&thread, NULL, install_for_all, NULL));
	while (!was_installed) {
		was_installed = __atomic_load_n(&installed, __ATOMIC_SEQ_CST);
		expect_equal(ferry_batch_on(FERRY_DEVICE, rets, calls, SLOTS, 0, 0), SLOTS - 1);
		expect_order(rets, was_installed);
	}
	expect(!pthread_join(thread, NULL));
}

TEST(another_threads_filter_binds_the_running_batch)
{
	int i;

	for (i = 0; i < 20; i++)
		expect_child(run_while_it_comes, NULL);
}

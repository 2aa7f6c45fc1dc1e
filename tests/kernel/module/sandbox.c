// SPDX-License-Identifier: MIT
/* The module leaves the calls of filtered tasks to user space. */
#include <sys/prctl.h>

#include "device.h"
#include "tests/lib/conformance/contract/filter.h"

#define FORBIDDEN "/dev/shm/ferry-forbidden"

static void break_out_raw(void *fd)
{
	const struct batch_slot slot = SLOT(SYS_mkdir, FORBIDDEN, 0700);
	long ret = UNTOUCHED;
	struct batch_args args = device_args(&ret, &slot, 1);
	struct filter filter;

	filter_one(&filter, SYS_mkdir, SECCOMP_RET_KILL_PROCESS);
	filter_install(&filter);
	expect_device_refuses(*(int *)fd, &args, 0, BATCH_BEGIN);
	expect_device_refuses(*(int *)fd, &args, 0, BATCH_BEGIN);
	expect_equal(ret, UNTOUCHED);
}

TEST(every_slot_of_a_filtered_task_is_refused)
{
	int fd = device_open();

	expect_child(break_out_raw, &fd);
	expect_equal(access(FORBIDDEN, F_OK), -1);
}

/* ---- a filter installed in the middle ---- */

static void confine_itself(void *fd)
{
	struct filter filter;
	const struct batch_slot calls[] = {
		SLOT(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		SLOT(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter.program),
		SLOT(SYS_mkdir, FORBIDDEN, 0700),
		SLOT(SYS_getpid),
	};
	long rets[4] = { UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED };
	struct batch_args args = device_args(rets, calls, 4);

	filter_one(&filter, SYS_mkdir, SECCOMP_RET_KILL_PROCESS);
	expect_device_stops(*(int *)fd, &args, 2);
	/* BATCH_BEGIN if a preemption left work for the exit to user space. */
	expect(args.state == BATCH_CALL || args.state == BATCH_BEGIN);
	expect_equal(rets[1], 0);
	expect_equal(rets[2], UNTOUCHED);
}

TEST(a_slot_behind_one_that_installs_a_filter_is_refused)
{
	int fd = device_open();

	expect_child(confine_itself, &fd);
	expect_equal(access(FORBIDDEN, F_OK), -1);
}

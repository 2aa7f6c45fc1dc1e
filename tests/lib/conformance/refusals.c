// SPDX-License-Identifier: MIT
/* Filters that refuse an engine what it needs: the library's results stay right. */
#include "contract/filter.h"
#include "contract/suite.h"
#include "contract/workload.h"

static void live_in_thread(void *arg)
{
	(void)arg;
	run_writes();
}

static void deny_the_engine(void *arg)
{
	static const int numbers[] = { FERRY_NR_BATCH, SYS_ioctl };
	const int *error = arg;
	struct filter filter;

	run_writes();
	filter_make(&filter, numbers, 2, SECCOMP_RET_ERRNO | (unsigned int)*error,
		    SECCOMP_RET_ALLOW);
	filter_install(&filter);
	run_writes();
	in_new_thread(live_in_thread);
}

TEST(a_filter_that_denies_the_engine_changes_no_result)
{
	static int errors[] = { ENOSYS, EPERM, EACCES, ENOTTY, EBADF };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		expect_child(deny_the_engine, &errors[i]);
}

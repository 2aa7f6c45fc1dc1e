// SPDX-License-Identifier: MIT
/* null, kstats and multi_page_alloc, on kernels with the series; -ENOSYS on others. */
#include <errno.h>
#include <stdbool.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <ferry.h>
#include <linux/kstats.h>

#include "tests/unit.h"

static bool has_series(void)
{
	return ferry_null() != -ENOSYS;
}

TEST(test_null)
{
	assert_true(ferry_null() == (has_series() ? 0 : -ENOSYS));
}

TEST(test_kstats)
{
	struct {
		struct kstats known;
		unsigned long long more;
	} larger = { .more = 1 };
	struct kstats stats = { 0 };
	struct sysinfo info;

	if (!has_series()) {
		assert_int_equal(ferry_kstats(&stats, sizeof(stats)), -ENOSYS);
		return;
	}
	assert_int_equal(ferry_kstats(&stats, sizeof(stats)), 0);
	assert_int_equal(sysinfo(&info), 0);
	assert_int_equal(stats.memory_total, (uint64_t)info.totalram * info.mem_unit);
	assert_true(stats.processes >= 1 && stats.runnable >= 1);
	assert_true(stats.uptime / 1000000000 <= (uint64_t)info.uptime + 1);
	assert_int_equal(ferry_kstats(&stats, KSTATS_SIZE_VER0 - 1), -EINVAL);
	assert_int_equal(ferry_kstats(&stats, (size_t)sysconf(_SC_PAGESIZE) + 1), -E2BIG);
	assert_int_equal(ferry_kstats(NULL, sizeof(stats)), -EFAULT);
	assert_int_equal(ferry_kstats(&larger.known, sizeof(larger)), 0);
	assert_int_equal(larger.more, 0);
}

TEST(test_multi_page_alloc)
{
	errno = EXFULL;
	assert_int_equal(ferry_multi_page_alloc(0), has_series() ? 0 : -ENOSYS);
	assert_int_equal(ferry_multi_page_alloc(512), has_series() ? 0 : -ENOSYS);
	assert_int_equal(ferry_multi_page_alloc(513), has_series() ? -EINVAL : -ENOSYS);
	assert_int_equal(ferry_multi_page_alloc(-1), has_series() ? -EINVAL : -ENOSYS);
	ferry_multi_page_alloc(0);
	assert_int_equal(errno, EXFULL);
}

TEST_MAIN

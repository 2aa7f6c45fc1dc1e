// SPDX-License-Identifier: GPL-2.0
/*
 * kstats(): what /proc/stat, /proc/loadavg, /proc/meminfo and /proc/uptime are
 * most often read for, without their text.
 */
#include <linux/blkdev.h>
#include <linux/build_bug.h>
#include <linux/kernel_stat.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/stat.h>
#include <linux/syscalls.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmstat.h>
#include <uapi/linux/ferry_kstats.h>

static u64 uptime(void)
{
	struct timespec64 now;

	ktime_get_boottime_ts64(&now);
	timens_add_boottime(&now);
	return timespec64_to_ns(&now);
}

static void read_kstats(struct kstats *stats)
{
	stats->processes = nr_processes();
	stats->runnable = nr_running();
	stats->memory_total = (u64)totalram_pages() << PAGE_SHIFT;
	stats->memory_free = (u64)global_zone_page_state(NR_FREE_PAGES) << PAGE_SHIFT;
	stats->memory_buffers = (u64)nr_blockdev_pages() << PAGE_SHIFT;
	stats->uptime = uptime();
	stats->context_switches = nr_context_switches();
}

SYSCALL_DEFINE2(kstats, struct kstats __user *, user, size_t, size)
{
	struct kstats stats;

	BUILD_BUG_ON(sizeof(stats) != KSTATS_SIZE_VER0);
	if (size < KSTATS_SIZE_VER0)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;

	read_kstats(&stats);
	if (copy_to_user(user, &stats, sizeof(stats)))
		return -EFAULT;
	/* What this kernel does not know is 0. */
	if (clear_user((void __user *)user + sizeof(stats), size - sizeof(stats)))
		return -EFAULT;
	return 0;
}

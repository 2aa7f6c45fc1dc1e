// SPDX-License-Identifier: GPL-2.0
/*
 * kstats(): the counters that are read most often from /proc/stat, /proc/loadavg,
 * /proc/meminfo and /proc/uptime, without the text.
 */
#include <linux/blkdev.h>
#include <linux/build_bug.h>
#include <linux/kernel_stat.h>
#include <linux/mm.h>
#include <linux/sched/stat.h>
#include <linux/syscalls.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmstat.h>
#include <uapi/linux/kstats.h>

static long put_kstats(struct kstats __user *user)
{
	const struct kstats stats = {
		.processes = nr_processes(),
		.runnable = nr_running(),
		.memory_total = (u64)totalram_pages() << PAGE_SHIFT,
		.memory_free = (u64)global_zone_page_state(NR_FREE_PAGES) << PAGE_SHIFT,
		.memory_buffers = (u64)nr_blockdev_pages() << PAGE_SHIFT,
		.uptime = timens_add_boottime_ns(ktime_get_boottime_ns()),
		.context_switches = nr_context_switches(),
	};

	if (!user_write_access_begin(user, sizeof(stats)))
		return -EFAULT;
	unsafe_put_user(stats.processes, &user->processes, fault);
	unsafe_put_user(stats.runnable, &user->runnable, fault);
	unsafe_put_user(stats.memory_total, &user->memory_total, fault);
	unsafe_put_user(stats.memory_free, &user->memory_free, fault);
	unsafe_put_user(stats.memory_buffers, &user->memory_buffers, fault);
	unsafe_put_user(stats.uptime, &user->uptime, fault);
	unsafe_put_user(stats.context_switches, &user->context_switches, fault);
	user_write_access_end();
	return 0;

fault:
	user_write_access_end();
	return -EFAULT;
}

SYSCALL_DEFINE2(kstats, struct kstats __user *, user, size_t, size)
{
	long error;

	BUILD_BUG_ON(sizeof(*user) != KSTATS_SIZE_VER0);
	if (size < KSTATS_SIZE_VER0)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;

	error = put_kstats(user);
	if (error)
		return error;
	/* Members that this kernel does not know are 0. */
	if (size > sizeof(*user) && clear_user(user + 1, size - sizeof(*user)))
		return -EFAULT;
	return 0;
}

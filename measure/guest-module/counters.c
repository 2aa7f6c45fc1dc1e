// SPDX-License-Identifier: GPL-2.0
/* What it costs to read the counters of kstats() where they are, by the time-stamp counter. */
#include <linux/kstats.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>
#include <linux/vmstat.h>

#include "internal.h"

/* Functions that the kernel does not export; declared as in its headers. */
static unsigned long nr_processes_address, nr_running_address;
static unsigned long nr_context_switches_address, nr_blockdev_pages_address;
module_param_named(nr_processes, nr_processes_address, ulong, 0400);
module_param_named(nr_running, nr_running_address, ulong, 0400);
module_param_named(nr_context_switches, nr_context_switches_address, ulong, 0400);
module_param_named(nr_blockdev_pages, nr_blockdev_pages_address, ulong, 0400);
MODULE_PARM_DESC(nr_processes, "address of the function, for FERRY_BENCH_COUNTERS; as the others");

static void read_counters(struct kstats *stats)
{
	int (*processes)(void) = (void *)nr_processes_address;
	unsigned int (*running)(void) = (void *)nr_running_address;
	unsigned long long (*context_switches)(void) = (void *)nr_context_switches_address;
	long (*blockdev_pages)(void) = (void *)nr_blockdev_pages_address;

	stats->processes = processes();
	stats->runnable = running();
	stats->memory_total = (u64)totalram_pages() << PAGE_SHIFT;
	stats->memory_free = (u64)global_zone_page_state(NR_FREE_PAGES) << PAGE_SHIFT;
	stats->memory_buffers = (u64)blockdev_pages() << PAGE_SHIFT;
	stats->uptime = timens_add_boottime_ns(ktime_get_boottime_ns());
	stats->context_switches = context_switches();
}

bool has_counters(void)
{
	return nr_processes_address && nr_running_address && nr_context_switches_address &&
	       nr_blockdev_pages_address;
}

noinline unsigned long cost_of_counters(void)
{
	struct kstats stats;
	unsigned long start = get_cycles();

	read_counters(&stats);
	barrier_data(&stats);
	return get_cycles() - start;
}

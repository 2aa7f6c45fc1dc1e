/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* The counters that kstats() reports. */
#ifndef _UAPI_LINUX_KSTATS_H
#define _UAPI_LINUX_KSTATS_H

#include <linux/types.h>

/**
 * struct kstats - counters of the whole system
 * @processes: processes, zombies included; threads are not counted
 * @runnable: tasks that run or wait for a CPU, the caller among them
 * @memory_total: usable memory, in bytes
 * @memory_free: memory that nothing uses, in bytes
 * @memory_buffers: memory that caches block devices, in bytes
 * @uptime: time since boot in nanoseconds, suspension included, in the
 *	caller's time namespace
 * @context_switches: context switches since boot, of all CPUs
 *
 * The counters are read one after another, without a lock, so they may belong to
 * different moments.  The structure grows at its end.
 */
struct kstats {
	__u64 processes;
	__u64 runnable;
	__u64 memory_total;
	__u64 memory_free;
	__u64 memory_buffers;
	__u64 uptime;
	__u64 context_switches;
};

#define KSTATS_SIZE_VER0 56 /* sizeof the first published struct */

#endif /* _UAPI_LINUX_KSTATS_H */

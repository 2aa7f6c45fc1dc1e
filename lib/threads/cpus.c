// SPDX-License-Identifier: MIT
/* How many CPUs the process may use. */
#include <stdio.h>
#include <string.h>
#include <sched.h>

#include "carrier.h"

/* The quota of one control group in CPUs, rounded up; 0: none. */
static int quota_of(const char *group)
{
	char path[512], text[64];
	long quota, period;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
	if (read_text(path, text, sizeof(text)) <= 0 ||
	    sscanf(text, "%ld %ld", &quota, &period) != 2 || quota <= 0 || period <= 0)
		return 0;
	return (int)((quota + period - 1) / period);
}

/* The least quota from the process's group (version 2) up to the root. */
static int quota(void)
{
	char text[512], *group, *end;
	int least = 0, one;

	if (read_text("/proc/self/cgroup", text, sizeof(text)) <= 0)
		return 0;
	group = strstr(text, "0::/");
	if (!group)
		return 0;
	group += 3;
	group[strcspn(group, "\n")] = '\0';
	for (;;) {
		one = quota_of(group);
		if (one && (!least || one < least))
			least = one;
		end = strrchr(group, '/');
		if (!end)
			return least;
		*end = '\0';
	}
}

int carrier_cpus(void)
{
	const int limit = quota();
	cpu_set_t set = { 0 };
	int cpus;

	if (raw3(SYS_sched_getaffinity, 0, sizeof(set), (long)&set) <= 0)
		return 1;
	cpus = 0;
	for (int i = 0; i < CPU_SETSIZE; i++)
		cpus += !!CPU_ISSET(i, &set);
	if (limit && limit < cpus)
		cpus = limit;
	if (cpus > MOST_WANTED)
		cpus = MOST_WANTED;
	return cpus > 0 ? cpus : 1;
}

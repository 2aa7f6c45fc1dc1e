// SPDX-License-Identifier: MIT
/* By default runners run on CPUs near the caller, but not on its own. */
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topology.h"

/* Whether OTHER is a thread of the core of CPU.  sysfs lists them as "0,4" or "0-1". */
static bool shares_core(int cpu, int other)
{
	char path[96], list[64];
	int first, second;
	FILE *file;
	bool shares = false;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
		 cpu);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(list, sizeof(list), file)) {
		if (sscanf(list, "%d-%d", &first, &second) == 2)
			shares = first <= other && other <= second;
		else if (sscanf(list, "%d,%d", &first, &second) == 2)
			shares = first == other || second == other;
	}
	fclose(file);
	return shares;
}

/* Appends the CPUs of MAY, but for CALLER, that share its core or do not. */
static int add_cpus(int order[], int count, const cpu_set_t *may, int caller, bool siblings)
{
	int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, may) && cpu != caller &&
		    shares_core(caller, cpu) == siblings)
			order[count++] = cpu;
	return count;
}

/* Puts another one first in each process, so that not all use the same. */
static void rotate(int order[], int count)
{
	int first[CPU_SETSIZE], i;

	for (i = 0; i < count; i++)
		first[i] = order[(i + getpid()) % count];
	memcpy(order, first, (size_t)count * sizeof(order[0]));
}

int ferry__flexsc_choose_cpus(int cpus[], unsigned int count)
{
	int order[CPU_SETSIZE + 1], caller = sched_getcpu(), known, others;
	cpu_set_t may;
	unsigned int i;

	if (caller < 0 || sched_getaffinity(0, sizeof(may), &may)) {
		for (i = 0; i < count; i++)
			cpus[i] = -1;
		return 1;
	}
	others = add_cpus(order, 0, &may, caller, false);
	rotate(order, others);
	known = add_cpus(order, others, &may, caller, true);
	rotate(order + others, known - others);
	order[known++] = caller;
	for (i = 0; i < count; i++)
		cpus[i] = known > 1 ? order[i % (unsigned int)known] : -1;
	return known;
}

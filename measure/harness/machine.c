// SPDX-License-Identifier: MIT
/* Reads /proc and /sys; anything missing there stays unknown. */
#include "machine.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "common/file.h"
#include "common/memory.h"

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"

/* The value of the first line "KEY<blanks>: VALUE" of /proc/cpuinfo, "" if there is none. */
static const char *cpuinfo(const char *key)
{
	const char *rest = line_after("/proc/cpuinfo", key);

	return rest + strspn(rest, "\t: ");
}

/* The number in a file of one line, or -1. */
static int number_in(const char *path)
{
	const char *line = first_line(path);

	return line ? (int)strtol(line, NULL, 10) : -1;
}

void machine_read(struct machine *machine)
{
	const char *model = cpuinfo("model name");

	uname(&machine->kernel);
	machine->cpu = *model ? model : "unknown";
	machine->user_mode = !strcmp(cpuinfo("vendor_id"), "User Mode Linux");
	machine->hypervisor = strstr(cpuinfo("flags"), " hypervisor") != NULL;
	machine->cpus = sysconf(_SC_NPROCESSORS_ONLN);
}

json_t *machine_mitigations(void)
{
	json_t *mitigations = json_object();
	struct dirent **entries = NULL;
	int count = scandir(VULNERABILITIES, &entries, NULL, alphasort);
	int i;

	for (i = 0; i < count; i++) {
		const char *path = keep_text(VULNERABILITIES "/%s", entries[i]->d_name);
		const char *measure = line_after(path, "Mitigation: ");
		const char *state = *measure ? measure : first_line(path); /* NULL of a directory */

		if (state && strcmp(state, "Not affected") != 0)
			json_object_set_new(mitigations, entries[i]->d_name, json_string(state));
		free(entries[i]);
	}
	free(entries);
	return mitigations;
}

/* ---- the CPU that is measured on ---- */

int use_cpus(int one, int other)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (one >= 0)
		CPU_SET((size_t)one, &set);
	if (other >= 0)
		CPU_SET((size_t)other, &set);
	if (one < 0 && other < 0)
		memset(&set, 0xff, sizeof(set));
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

int cpu_stay(int cpu)
{
	int which = cpu < 0 ? sched_getcpu() : cpu;
	int error = which < 0 || which >= CPU_SETSIZE ? -EINVAL : use_cpus(which, -1);

	return error ? error : which;
}

long list_cpus(int **cpus)
{
	cpu_set_t may, now;
	long count = 0;
	int cpu, own = sched_getcpu();

	*cpus = keep(CPU_SETSIZE, sizeof(**cpus));
	if (sched_getaffinity(0, sizeof(now), &now) || use_cpus(-1, -1) ||
	    sched_getaffinity(0, sizeof(may), &may) || sched_setaffinity(0, sizeof(now), &now)) {
		(*cpus)[0] = -1;
		return 1;
	}
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &may) && cpu != own)
			(*cpus)[count++] = cpu;
	(*cpus)[count++] = own;
	return count;
}

const char *cpu_online(void)
{
	const char *list = first_line("/sys/devices/system/cpu/online");

	return list ? list : keep_text("0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
}

/* CPU time in user space and in the kernel, s. */
static double cpu_seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/*
 * All but idle (4th) and waiting for a disk (5th); the guests' (9th on) are in the first two.
 * *STOLEN may be NULL.
 */
static double busy_time(const char *line, double *stolen)
{
	const char *numbers = line_after("/proc/stat", line);
	const double tick = 1 / (double)sysconf(_SC_CLK_TCK);
	double user, nice, system, irq, softirq, taken;

	if (sscanf(numbers, "%lf %lf %lf %*f %*f %lf %lf %lf", &user, &nice, &system, &irq,
		   &softirq, &taken) < 6)
		user = nice = system = irq = softirq = taken = NAN;
	if (stolen)
		*stolen = taken * tick;
	return (user + nice + system + irq + softirq + taken) * tick;
}

struct cpu_use cpu_use(int cpu)
{
	struct cpu_use use = { .elapsed = now_ns() / 1e9, .busy = NAN, .stolen = NAN };
	struct rusage self, children;

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	use.own = cpu_seconds(&self) + cpu_seconds(&children);
	use.preempted = self.ru_nivcsw + children.ru_nivcsw;
	use.all = busy_time("cpu ", NULL);
	if (cpu >= 0)
		use.busy = busy_time(keep_text("cpu%d ", cpu), &use.stolen);
	return use;
}

/* The kernel counts in ticks of 10 ms. */
static double share_of(double seconds, double elapsed)
{
	if (isnan(seconds) || elapsed < 0.5)
		return NAN;
	return fmin(1, fmax(0, seconds / elapsed));
}

struct others cpu_others(int cpu, const struct cpu_use *start)
{
	const struct cpu_use now = cpu_use(cpu);
	const double own = now.own - start->own;
	const double elapsed = now.elapsed - start->elapsed;
	const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);

	return (struct others){
		.of_cpu = share_of(now.busy - start->busy - own, elapsed),
		.of_all = share_of((now.all - start->all - own) / cpus, elapsed),
		.stolen = share_of(now.stolen - start->stolen, elapsed),
		.preempted = now.preempted - start->preempted,
	};
}

long runnable_tasks(void)
{
	return strtol(line_after("/proc/stat", "procs_running "), NULL, 10);
}

const char *cpu_governor(int cpu)
{
	return first_line(keep_text("/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
				    cpu < 0 ? 0 : cpu));
}

int cpu_smt(void)
{
	return number_in("/sys/devices/system/cpu/smt/active");
}

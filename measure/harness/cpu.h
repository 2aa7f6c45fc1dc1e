/* SPDX-License-Identifier: MIT */
/* The CPU that is measured on: staying there, who else uses it, how it is run. */
#ifndef CPU_H
#define CPU_H

#include <stddef.h>

/** Keeps the process on CPU, or for -1 on the one it runs on.  Returns the CPU, or -errno. */
int cpu_stay(int cpu);

/** The CPUs that are online, as "0-3,5". */
void cpu_online(char *list, size_t size);

/* Times since the start of the machine and of this process, s. */
struct cpu_use {
	double elapsed;
	double busy; /* of the CPU, whoever used it; NAN when not known */
	double own;  /* of this process and its children, on any CPU */
};

struct cpu_use cpu_use(int cpu);

/** 0 to 1: the share of the CPU that others took since START; NAN when too short to tell. */
double cpu_others(int cpu, const struct cpu_use *start);

/** The frequency governor of the CPU, "" when there is none. */
void cpu_governor(int cpu, char *governor, size_t size);

/** 1 when CPUs share cores, 0 when not, -1 when not known. */
int cpu_smt(void);

#endif /* CPU_H */

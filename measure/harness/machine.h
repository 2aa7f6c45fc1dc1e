/* SPDX-License-Identifier: MIT */
/* The machine, as a measurement describes it, and the CPU that it stays on. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/utsname.h>

#include <jansson.h>

struct machine {
	struct utsname kernel;
	const char *cpu; /* the model's name, or "unknown" */
	long cpus;	 /* online */
	bool hypervisor; /* the CPU reports that it is virtual */
	bool user_mode;	 /* user-mode Linux, a process of its host */
};

/** Reads what the kernel reports; what it does not report is left as above. */
void machine_read(struct machine *machine);

/**
 * The CPU vulnerabilities that are mitigated or open here, {"name": "what is done"}; those
 * that do not affect this CPU are left out.  The caller's to decref; NULL when out of memory.
 */
json_t *machine_mitigations(void);

/* ---- the CPU that is measured on ---- */

/** Keeps the process on CPU, or for -1 on the one it runs on.  Returns the CPU, or -errno. */
int cpu_stay(int cpu);

/** All CPUs that this process may use, the one it is on last, in CPUS, kept; how many. */
long list_cpus(int **cpus);

/**
 * Lets this thread, and what it starts, run on one CPU or two (-1: none); any CPU if both are.
 * Returns 0, or -errno.
 */
int use_cpus(int one, int other);

/** The CPUs that are online, as "0-3,5"; kept. */
const char *cpu_online(void);

/* Times since the start of the machine and of this process, s. */
struct cpu_use {
	double elapsed;
	double busy, stolen; /* of the CPU, whoever used it, the host included; NAN: not known */
	double all;	     /* of all CPUs together */
	double own;	     /* of this process and its children, on any CPU */
	long preempted;	     /* how often these lost a CPU that they could have used further */
};

/* What disturbed a measurement: shares from 0 to 1, or NAN. */
struct others {
	double of_cpu, of_all; /* CPU time that others took, of the CPU and of all CPUs */
	double stolen;	       /* a part of OF_CPU: what the host of a virtual machine took */
	long preempted;
};

struct cpu_use cpu_use(int cpu);

/** Since START; the shares are NAN if the time was too short. */
struct others cpu_others(int cpu, const struct cpu_use *start);

/** How many tasks of the whole machine can run now, this one included; 0: not known. */
long runnable_tasks(void);

/** The frequency governor of the CPU, kept, or NULL. */
const char *cpu_governor(int cpu);

/** 1 when CPUs share cores, 0 when not, -1 when not known. */
int cpu_smt(void);

#endif /* MACHINE_H */

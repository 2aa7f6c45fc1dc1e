/* SPDX-License-Identifier: MIT */
/* What a measurement on this machine has to state: kernel, CPU, mitigations, io_uring. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <sys/utsname.h>

#include <jansson.h>

struct machine {
	struct utsname kernel;
	char cpu[128];	       /* the model's name, or "unknown" */
	long cpus;	       /* online */
	bool hypervisor;       /* the CPU says that it is a virtual machine's */
	int io_uring_disabled; /* sysctl kernel.io_uring_disabled, or -1 where there is none */
};

/** Reads what the kernel tells of the machine; what it does not tell is left as above. */
void machine_read(struct machine *machine);

/**
 * The CPU vulnerabilities that are mitigated or open here, {"name": "what is done"}; those
 * that do not affect this CPU are left out.  The caller's to decref; NULL when out of memory.
 */
json_t *machine_mitigations(void);

/** The first line of a file of /proc or /sys, without its end; "" when it cannot be read. */
void read_first_line(const char *path, char *line, size_t size);

#endif /* MACHINE_H */

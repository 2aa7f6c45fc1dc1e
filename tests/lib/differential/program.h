/* SPDX-License-Identifier: MIT */
/* A batch program, which the tester makes, runs, shrinks and prints. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdio.h>

#include <linux/ferry.h>

#define MAX_SLOTS 512UL
#define SLOTS_PER_PAGE 64UL

struct program {
	unsigned long count; /* slots that exist */
	unsigned long ncall; /* ncall; if it is more, the slots beyond cannot be read */
	struct batch_slot slots[MAX_SLOTS];
};

/* The name of call NR in C, or NULL if programs do not call it by name. */
const char *call_name(short nr);

/* Prints PROGRAM as a C array, with addresses named as in world.h. */
void program_print(const struct program *program, FILE *out);

#endif /* PROGRAM_H */

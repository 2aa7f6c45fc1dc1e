/* SPDX-License-Identifier: MIT */
/* The ways to run a batch that are measured against each other. */
#ifndef ENGINES_H
#define ENGINES_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/ferry.h>

struct engine {
	const char *name;
	bool one_crossing; /* per batch, not per slot */
	bool whole;	   /* forwarding and word copies too, not only calls */
	/* Whether this machine has it. */
	bool (*here)(void);
	/* Runs calls[0 .. n - 1], whose pointers are good. */
	void (*run)(long rets[], const struct ferry_slot calls[], unsigned long n);
};

extern const struct engine engines[];
extern const size_t engine_count;

#endif /* ENGINES_H */

/* SPDX-License-Identifier: MIT */
/*
 * Programs that run in two children, one after the other: the loop makes the calls of the first,
 * the engine under attack makes those of the second.  Both have to tell the same and to end in
 * the same way.
 */
#ifndef BESIDE_H
#define BESIDE_H

#include "hostile.h"

/** A test whose body runs beside the loop. */
#define BESIDE_THE_LOOP(name)                      \
	static void body_of_##name(void *);        \
	TEST(name)                                 \
	{                                          \
		compare_with_loop(body_of_##name); \
	}                                          \
	static void body_of_##name(void *unused __attribute__((unused)))

/** Fails unless BODY tells the same, and ends in the same way, with both engines. */
void compare_with_loop(child_fn body);

/** Adds to what the body tells.  Its children may do so as well, but not at the same time. */
void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Tells the wait status of child PID, which has to end, or to stop for its tracer. */
void tell_status(pid_t pid);

#define SCRIPT_SLOTS 40

/** The slots of a body: add_slot() appends one, run_script() runs them and tells the results. */
struct script {
	unsigned int count;
	struct batch_slot calls[SCRIPT_SLOTS];
	long rets[SCRIPT_SLOTS];
	bool vague[SCRIPT_SLOTS]; /* results that differ from run to run: only the sign is told */
};

/** An empty script, in memory that children share. */
struct script *new_script(void);

/** Appends SLOT; returns its index. */
unsigned int add_slot(struct script *script, struct batch_slot slot);

/** Appends SLOT, whose argument ARG is the result of the slot with index FROM. */
unsigned int add_taking(struct script *script, unsigned int arg, unsigned int from,
			struct batch_slot slot);

/** Appends SLOT, of whose result only the sign is told. */
unsigned int add_vague(struct script *script, struct batch_slot slot);

/** Runs the slots, and tells which was the last and what the results are. */
void run_script(struct script *script);

/** Handles SIG by HANDLER; FLAGS are those of sigaction(2). */
void handle(int sig, void (*handler)(int), int flags);

/** A shared mapping of SIZE bytes, readable and writable, zero. */
void *shared_memory(size_t size);

#endif /* BESIDE_H */

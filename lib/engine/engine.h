/* SPDX-License-Identifier: MIT */
/* What an engine is to the library: a name, a probe and a way to run. */
#ifndef ENGINE_H
#define ENGINE_H

#include <ferry.h>
#include <ferry/loop.h>

struct engine {
	const char *name;
	const char *summary;

	/* 0 when the calling thread can run batches on it; else -errno, and why. */
	int (*probe)(const char **why);

	/* Arguments are as ferry_batch() checked them: flags 0, ncall from 1 to FERRY_MAX_SLOTS. */
	long (*run)(long rets[], const struct ferry_slot calls[], unsigned long ncall);
};

extern const struct engine loop_engine;
extern const struct engine uring_engine;
extern const struct engine device_engine;
extern const struct engine syscall_engine;

/* The process's descriptor of the module's device, opened if there is none; or -errno. */
int device_descriptor(void);

/* ferry_loop_until(), once: engines that share slots with the loop run the same code. */
void loop_until(struct ferry_cursor *cursor, const struct ferry_slot *stop, long rets[],
		const struct ferry_slot calls[], unsigned long ncall);

#endif /* ENGINE_H */

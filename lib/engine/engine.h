/* SPDX-License-Identifier: MIT */
/* An engine: a name, a test whether it is available, and a way to run batches. */
#ifndef ENGINE_H
#define ENGINE_H

#include <ferry.h>

struct engine {
	const char *name;
	const char *summary;

	/* 0 when the calling thread can run batches on it; else -errno, and why. */
	int (*probe)(const char **why);

	/* Arguments are as ferry_batch() checked them: flags 0, ncall from 1 to BATCH_MAX_SLOTS. */
	long (*run)(long rets[], const struct batch_slot calls[], unsigned long ncall);
};

extern const struct engine ferry__loop_engine;
extern const struct engine ferry__device_engine;
extern const struct engine ferry__syscall_engine;

/** The engine in use if it runs a batch in one crossing, else FERRY_LOOP. */
enum ferry_engine ferry__engine_of_one_crossing(void);

#endif /* ENGINE_H */

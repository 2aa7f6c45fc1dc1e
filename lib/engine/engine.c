// SPDX-License-Identifier: MIT
/* The list of engines: their names, probing, choosing one, and running batches on it. */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <ferry.h>
#include <ferry/loop.h>

#include "engine.h"

static const struct engine *const engines[FERRY_ENGINES] = {
	[FERRY_LOOP] = &ferry__loop_engine,
	[FERRY_DEVICE] = &ferry__device_engine,
	[FERRY_SYSCALL] = &ferry__syscall_engine,
};

/* The order in which auto tries engines: fewest crossings first, and last the one for any Linux. */
static const enum ferry_engine by_preference[] = { FERRY_SYSCALL, FERRY_DEVICE, FERRY_LOOP };

#define UNSET INT_MIN

/* The choice for the process: an enum ferry_engine, the -errno of a bad FERRY_ENGINE, or UNSET. */
static atomic_int chosen = UNSET;

/* What FERRY_AUTO stands for here, or UNSET. */
static atomic_int best = UNSET;

static const struct engine *find(enum ferry_engine engine)
{
	return (unsigned int)engine < FERRY_ENGINES ? engines[engine] : NULL;
}

const char *ferry_engine_name(enum ferry_engine engine)
{
	if (engine == FERRY_AUTO)
		return "auto";
	return find(engine) ? find(engine)->name : NULL;
}

const char *ferry_engine_summary(enum ferry_engine engine)
{
	if (engine == FERRY_AUTO)
		return "the engine with the fewest crossings that works here";
	return find(engine) ? find(engine)->summary : NULL;
}

int ferry_engine_by_name(const char *name)
{
	int engine;

	for (engine = FERRY_AUTO; engine < FERRY_ENGINES; engine++)
		if (!strcmp(name, ferry_engine_name(engine)))
			return engine;
	return -EINVAL;
}

int ferry_engine_probe(enum ferry_engine engine, const char **why)
{
	const char *ignored;

	if (!why)
		why = &ignored;
	if (engine == FERRY_AUTO) {
		*why = "chooses one of the available engines";
		return 0;
	}
	if (!find(engine)) {
		*why = "there is no such engine";
		return -EINVAL;
	}
	return find(engine)->probe(why);
}

static int from_environment(void)
{
	const char *name = secure_getenv("FERRY_ENGINE");

	if (name && *name)
		return ferry_engine_by_name(name);
	return secure_getenv("BATCH_EMUL") ? FERRY_LOOP : FERRY_AUTO;
}

int ferry_engine_in_use(void)
{
	int engine = atomic_load_explicit(&chosen, memory_order_relaxed);
	int error;

	if (engine != UNSET)
		return engine;
	engine = from_environment();
	if (engine > FERRY_AUTO) {
		error = ferry_engine_probe(engine, NULL);
		engine = error ? error : engine;
	}
	atomic_store_explicit(&chosen, engine, memory_order_relaxed);
	return engine;
}

int ferry_engine_use(enum ferry_engine engine)
{
	int error = ferry_engine_probe(engine, NULL);

	if (!error)
		atomic_store_explicit(&chosen, engine, memory_order_relaxed);
	return error;
}

static enum ferry_engine best_engine(void)
{
	int engine = atomic_load_explicit(&best, memory_order_relaxed);
	size_t i = 0;

	if (engine != UNSET)
		return engine;
	/* The last one is the loop, which is everywhere. */
	while (i + 1 < sizeof(by_preference) / sizeof(by_preference[0]) &&
	       ferry_engine_probe(by_preference[i], NULL))
		i++;
	atomic_store_explicit(&best, by_preference[i], memory_order_relaxed);
	return by_preference[i];
}

enum ferry_engine ferry_engine_auto(const char **why)
{
	enum ferry_engine engine = best_engine();
	const char *ignored;

	if (!why)
		why = &ignored;
	if (engine == FERRY_LOOP) {
		*why = "neither the batch system call nor ferry's module can be used here";
		return engine;
	}
	return ferry_engine_probe(engine, why) ? FERRY_LOOP : engine;
}

enum ferry_engine ferry__engine_of_one_crossing(void)
{
	int engine = ferry_engine_in_use();

	if (engine == FERRY_AUTO)
		engine = best_engine();
	return engine == FERRY_SYSCALL || engine == FERRY_DEVICE ? engine : FERRY_LOOP;
}

long ferry_batch_on(enum ferry_engine engine, long rets[], const struct batch_slot calls[],
		    unsigned long ncall, long flags, long size)
{
	const struct engine *on = find(engine == FERRY_AUTO ? best_engine() : engine);
	long answer = ferry_batch_prepare(rets, calls, ncall, flags, size);

	if (!on)
		return -EINVAL;
	if (answer || !ncall)
		return answer;
	return on->run(rets, calls, ncall);
}

long ferry_batch(long rets[], const struct batch_slot calls[], unsigned long ncall, long flags,
		 long size)
{
	int engine = ferry_engine_in_use();

	if (engine < 0)
		return engine;
	return ferry_batch_on(engine, rets, calls, ncall, flags, size);
}

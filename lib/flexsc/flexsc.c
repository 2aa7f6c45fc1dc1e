// SPDX-License-Identifier: MIT
/* Starting and stopping the runners. */
#include "flexsc.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ferry/rawcall.h>

#include "confinement.h"
#include "spin.h"
#include "topology.h"

#define DEFAULT_ENTRIES 128
#define DEFAULT_STANDINS 256
#define FLAGS (FERRY_FLEXSC_USER | FERRY_FLEXSC_UNCONFINED)

#define CROSSINGS 16 /* that are timed */

/*
 * How long to spin: longer than a sleep and a wake-up take.  In user-mode Linux that is the time of
 * some 20 crossings, and where both sides give up sooner, both sleep between any two rounds.
 */
#define LEAST_SPIN_NS 50000L
#define SPIN_CROSSINGS 32

/* ---- forks ---- */

static void lock_before_fork(void)
{
	pthread_mutex_lock(&ferry__flexsc_mutex);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&ferry__flexsc_mutex);
}

/* ---- starting and stopping ---- */

/* Above, no set has a bit for it.  The kernel refuses those below that do not exist. */
static bool has_impossible_cpu(const struct ferry_flexsc_options *options)
{
	unsigned int i = options->runners ? options->runners : 1;

	while (options->cpus && i--)
		if (options->cpus[i] >= CPU_SETSIZE)
			return true;
	return false;
}

static int check(const struct ferry_flexsc_options *options)
{
	unsigned int entries = options->entries;

	if (options->runners > FERRY_FLEXSC_MAX_RUNNERS || options->spin_ns < FERRY_NO_SPIN ||
	    options->standins > FERRY_FLEXSC_MAX_STANDINS)
		return -EINVAL;
	if (entries &&
	    (entries < WORD_BITS || entries > FLEXSC_MAX_ENTRIES || (entries & (entries - 1))))
		return -EINVAL;
	if (options->flags & ~FLAGS || has_impossible_cpu(options))
		return -EINVAL;
	return 0;
}

static int choose_place(struct ferry_flexsc *flexsc, const struct ferry_flexsc_options *options)
{
	long features = 0;
	int place = IN_USER;

	if (!(options->flags & FERRY_FLEXSC_USER))
		place = ferry__flexsc_choose_place(&features);
	if (place < 0)
		return place;
	flexsc->place = (enum flexsc_place)place;
	flexsc->flags = ferry__set_fence_flag();
	if (place != IN_USER && !(features & FLEXSC_FEATURE_MEMBARRIER))
		flexsc->flags = FLEXSC_FENCES;
	return 0;
}

/* Not the time of one, in which the thread may have waited for its CPU. */
static long fastest_crossing_ns(void)
{
	long fastest = LONG_MAX, took, start, i;

	for (i = 0; i < CROSSINGS; i++) {
		start = clock_ns();
		ferry_rawcall(SYS_getppid, 0, 0, 0, 0, 0, 0);
		took = clock_ns() - start;
		if (took < fastest)
			fastest = took;
	}
	return fastest;
}

/* Whether runners have the caller's only CPU. */
static bool has_one_cpu(const struct ferry_flexsc *flexsc, int cpus)
{
	unsigned int i;

	for (i = 0; i < flexsc->slots; i++)
		if (flexsc->cpu[i] >= 0 && flexsc->cpu[i] != sched_getcpu())
			return false;
	return cpus == 1;
}

static void note_cpus(struct ferry_flexsc *flexsc)
{
	unsigned int i;

	sched_getaffinity(0, sizeof(flexsc->cpus), &flexsc->cpus);
	for (i = 0; i < flexsc->slots; i++)
		if (flexsc->cpu[i] >= 0)
			CPU_SET((size_t)flexsc->cpu[i], &flexsc->cpus);
}

/* OPTION is that of the caller, who may use CPUS CPUs. */
static long spin_ns(const struct ferry_flexsc *flexsc, long option, int cpus)
{
	long ns;

	if (option)
		return option == FERRY_NO_SPIN ? 0 : option;
	if (has_one_cpu(flexsc, cpus))
		return 0;
	ns = SPIN_CROSSINGS * fastest_crossing_ns();
	return ns > LEAST_SPIN_NS ? ns : LEAST_SPIN_NS;
}

static int fill_in(struct ferry_flexsc *flexsc, const struct ferry_flexsc_options *options)
{
	static unsigned long starts;
	int cpus;

	flexsc->entries = options->entries ? options->entries : DEFAULT_ENTRIES;
	flexsc->slots = options->runners ? options->runners : 1;
	flexsc->eventfd = -1;
	flexsc->id = __atomic_add_fetch(&starts, 1, __ATOMIC_RELAXED);
	flexsc->trusts = options->flags & FERRY_FLEXSC_UNCONFINED;
	flexsc->key_rights = key_rights();
	flexsc->standins = options->standins ? options->standins : DEFAULT_STANDINS;
	cpus = ferry__flexsc_choose_cpus(flexsc->cpu, flexsc->slots);
	if (options->cpus)
		memcpy(flexsc->cpu, options->cpus, flexsc->slots * sizeof(flexsc->cpu[0]));
	note_cpus(flexsc);
	flexsc->spin_ns = spin_ns(flexsc, options->spin_ns, cpus);
	return choose_place(flexsc, options);
}

static void end(struct ferry_flexsc *flexsc)
{
	unsigned int i;

	if (flexsc->eventfd >= 0) {
		if (!set_is_wiped(flexsc->runner[0]->set))
			ferry__watcher_stop(flexsc);
		close(flexsc->eventfd);
	}
	for (i = 0; i < flexsc->count; i++)
		ferry__runner_end(flexsc, flexsc->runner[i]);
	free(flexsc);
}

/* Not when the library is loaded: most programs that use it start no flexsc. */
static void prepare(void)
{
	ferry__look_for_keys();
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_after_fork);
}

int ferry_flexsc_start(struct ferry_flexsc **flexsc, const struct ferry_flexsc_options *options)
{
	static const struct ferry_flexsc_options defaults;
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct ferry_flexsc *new;
	unsigned int i;
	int error;

	if (!options)
		options = &defaults;
	error = check(options);
	if (error)
		return error;
	pthread_once(&once, prepare);
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	error = fill_in(new, options);
	for (i = 0; i < new->slots && !error; i++)
		error = ferry__runner_start(new, new->cpu[i], &new->slot[i]);
	if (error) {
		end(new);
		return error;
	}
	*flexsc = new;
	return 0;
}

void ferry_flexsc_stop(struct ferry_flexsc *flexsc)
{
	if (flexsc)
		end(flexsc);
}

int ferry_flexsc_in_kernel(const struct ferry_flexsc *flexsc)
{
	return flexsc->place != IN_USER;
}

unsigned int ferry_flexsc_runners(const struct ferry_flexsc *flexsc)
{
	return flexsc->slots;
}

long ferry_flexsc_cpu_ns(const struct ferry_flexsc *flexsc)
{
	unsigned int i, count = __atomic_load_n(&flexsc->count, __ATOMIC_ACQUIRE);
	long ns = 0;

	for (i = 0; i < count; i++)
		ns += ferry__runner_cpu_ns(flexsc->runner[i]);
	return ns;
}

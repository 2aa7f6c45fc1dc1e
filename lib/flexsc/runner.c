// SPDX-License-Identifier: MIT
#include "runner.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "direct.h"
#include "event.h"
#include "flexsc.h"
#include "spin.h"

pthread_mutex_t ferry__flexsc_mutex = PTHREAD_MUTEX_INITIALIZER;

static long own_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return ns_of(&used);
}

/* Claims all entries, so that nobody posts here any more: false if some are in use. */
static bool claim_all(struct runner *runner)
{
	unsigned int words = runner->set->count / WORD_BITS, i;
	unsigned long all;

	for (i = 0; i < words; i++) {
		all = ~0UL;
		if (!__atomic_compare_exchange_n(&runner->free[i], &all, 0, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			break;
	}
	if (i == words)
		return true;
	while (i--)
		__atomic_store_n(&runner->free[i], ~0UL, __ATOMIC_RELEASE);
	return false;
}

/* Ends the thread of a spare runner, which ferry__runner_replace() may start again. */
static bool retire(struct runner *runner)
{
	bool retires;

	pthread_mutex_lock(&ferry__flexsc_mutex);
	retires = __atomic_load_n(&runner->is_spare, __ATOMIC_RELAXED) && claim_all(runner);
	if (retires) {
		__atomic_fetch_add(&runner->used_ns, own_cpu_ns(), __ATOMIC_RELAXED);
		__atomic_store_n(&runner->is_retired, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&ferry__flexsc_mutex);
	return retires;
}

static void *runner_main(void *argument)
{
	struct runner *runner = argument;

	__atomic_store_n(&runner->tid, gettid(), __ATOMIC_RELAXED);
	while (ferry__flexsc_serve_at(runner->place, runner->set, runner->limit, &runner->is_spare))
		if (retire(runner))
			break;
	return NULL;
}

/*
 * Blocks all signals, except the ones that a call or a fault raises for the thread itself.  SIGTTIN
 * and SIGTTOU stay as they are: a terminal that finds them blocked does not stop a job in the
 * background, but fails its reads and lets its writes pass.
 */
static void block_signals(sigset_t *before)
{
	static const int own[] = { SIGPIPE, SIGXFSZ, SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
				   SIGTRAP, SIGSYS,  SIGABRT, SIGTTIN, SIGTTOU };
	sigset_t all;
	size_t i;

	sigfillset(&all);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

#ifndef __GLIBC__
/* musl has no such attribute: there a runner begins, and stays, where the kernel puts it. */
static int pthread_attr_setaffinity_np(pthread_attr_t *attributes, size_t size,
				       const cpu_set_t *cpus)
{
	(void)attributes, (void)size, (void)cpus;
	return 0;
}
#endif

static int stay_on(pthread_attr_t *attributes, const struct runner *runner)
{
	cpu_set_t cpus = runner->flexsc->cpus;

	if (runner->cpu >= 0) {
		CPU_ZERO(&cpus);
		CPU_SET((size_t)runner->cpu, &cpus);
	}
	if (!CPU_COUNT(&cpus))
		return 0;
	return pthread_attr_setaffinity_np(attributes, sizeof(cpus), &cpus);
}

/* The thread has its affinity and blocked signals from the start. */
static int start_thread(struct runner *runner)
{
	pthread_attr_t attributes;
	sigset_t before;
	int error;

	pthread_attr_init(&attributes);
	error = stay_on(&attributes, runner);
	block_signals(&before);
	if (!error)
		error = pthread_create(&runner->thread, &attributes, runner_main, runner);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	runner->has_thread = !error;
	if (!error)
		pthread_setname_np(runner->thread, "ferry-runner");
	return -error;
}

static struct runner *runner_new(struct ferry_flexsc *flexsc, int cpu)
{
	struct runner *runner = aligned_alloc(_Alignof(struct runner), sizeof(*runner));
	unsigned int i;

	if (!runner)
		return NULL;
	runner->set = ferry__set_new(flexsc->entries, flexsc->spin_ns, flexsc->flags);
	if (!runner->set) {
		free(runner);
		return NULL;
	}
	runner->flexsc = flexsc;
	runner->index = flexsc->count;
	runner->cpu = cpu;
	runner->place = flexsc->place;
	runner->limit = ANY_RUNNER;
	if (flexsc->trusts || runner->place == IN_USER) /* posters decide */
		runner->limit = ALIKE_RUNNER;
	runner->next = 0;
	runner->tid = 0;
	runner->used_ns = 0;
	runner->is_spare = runner->is_retired = runner->has_thread = false;
	runner->looked_ns = 0;
	runner->was_blocked = false;
	pthread_mutex_init(&runner->withdrawing, NULL);
	for (i = 0; i < MAX_WORDS; i++)
		runner->free[i] = i < flexsc->entries / WORD_BITS ? ~0UL : 0;
	return runner;
}

static void runner_delete(struct runner *runner, unsigned int entries)
{
	pthread_mutex_destroy(&runner->withdrawing);
	if (!set_is_wiped(runner->set))
		ferry__event_drop_all(runner->set);
	ferry__set_free(runner->set, entries);
	free(runner);
}

int ferry__runner_start(struct ferry_flexsc *flexsc, int cpu, struct runner **runner)
{
	struct runner *new;
	int error;

	if (flexsc->count == flexsc->slots + flexsc->standins)
		return -EAGAIN;
	new = runner_new(flexsc, cpu);
	if (!new)
		return -ENOMEM;
	/* Calls may be posted before the thread runs. */
	new->set->runner = FLEXSC_RUNNER_RUNNING;
	error = start_thread(new);
	if (error) {
		runner_delete(new, flexsc->entries);
		return error;
	}
	flexsc->runner[flexsc->count] = new;
	__atomic_store_n(&flexsc->count, flexsc->count + 1, __ATOMIC_RELEASE);
	*runner = new;
	return 0;
}

void ferry__runner_end(struct ferry_flexsc *flexsc, struct runner *runner)
{
	if (!set_is_wiped(runner->set)) {
		ferry__set_stop(runner->set);
		if (runner->has_thread)
			pthread_join(runner->thread, NULL);
	}
	runner_delete(runner, flexsc->entries);
}

/* In "/proc/self/task/TID/stat" the state follows the name: "17 (ferry-runner) S ...". */
static char state_of(int tid)
{
	char path[64], line[64];
	const char *end;
	long fd, length;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = ferry_rawcall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return 'S';
	length = ferry_rawcall(SYS_read, fd, (long)line, sizeof(line) - 1, 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	line[length > 0 ? length : 0] = '\0';
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : 'S';
}

static const struct flexsc_entry *begun_call(const struct flexsc_set *set)
{
	unsigned int i;

	for (i = 0; i < set->count; i++)
		if (entry_is_begun(&set->entry[i]))
			return &set->entry[i];
	return NULL;
}

/* The call must be begun before and after: between two calls the runner may sleep as well. */
bool ferry__runner_is_blocked(const struct runner *runner)
{
	const struct flexsc_entry *call = begun_call(runner->set);
	int tid = __atomic_load_n(&runner->tid, __ATOMIC_RELAXED);
	char state;

	if (__atomic_load_n(&runner->set->runner, __ATOMIC_RELAXED) == FLEXSC_RUNNER_BLOCKED)
		return true;
	if (!tid || !call)
		return false;
	state = state_of(tid);
	return (state == 'S' || state == 'D') && entry_is_begun(call);
}

long ferry__runner_cpu_ns(const struct runner *runner)
{
	long before = __atomic_load_n(&runner->used_ns, __ATOMIC_RELAXED);
	struct timespec used;
	clockid_t clock;

	if (set_is_wiped(runner->set) || __atomic_load_n(&runner->is_retired, __ATOMIC_ACQUIRE) ||
	    pthread_getcpuclockid(runner->thread, &clock) || clock_gettime(clock, &used))
		return before;
	return before + ns_of(&used);
}

/* Claims one of the entries in WORD whose bits are in MASK: its index, or -1. */
static int claim_in(struct runner *runner, unsigned int word, unsigned long mask)
{
	unsigned long bits = __atomic_load_n(&runner->free[word], __ATOMIC_RELAXED), bit;

	while (bits & mask) {
		bit = bits & mask & -(bits & mask);
		bits = __atomic_fetch_and(&runner->free[word], ~bit, __ATOMIC_ACQUIRE);
		if (bits & bit)
			return (int)(word * WORD_BITS) + __builtin_ctzl(bit);
	}
	return -1;
}

struct flexsc_entry *ferry__runner_claim(struct runner *runner)
{
	unsigned int first = __atomic_load_n(&runner->next, __ATOMIC_RELAXED), i;
	unsigned int words = runner->flexsc->entries / WORD_BITS, word = first / WORD_BITS;
	unsigned long mask = ~0UL << first % WORD_BITS;
	int index = claim_in(runner, word, mask);

	for (i = 1; index < 0 && i <= words; i++)
		index = claim_in(runner, (word + i) % words, i < words ? ~0UL : ~mask);
	if (index < 0)
		return NULL;
	__atomic_store_n(&runner->next, ((unsigned int)index + 1) % (words * WORD_BITS),
			 __ATOMIC_RELAXED);
	return &runner->set->entry[index];
}

void ferry__runner_free(struct runner *runner, const struct flexsc_entry *entry)
{
	long index = entry - runner->set->entry;

	__atomic_fetch_or(&runner->free[index / WORD_BITS], 1UL << index % WORD_BITS,
			  __ATOMIC_RELEASE);
}

bool ferry__runner_has_free(const struct runner *runner, const struct flexsc_entry *entry)
{
	long index = entry - runner->set->entry;

	return __atomic_load_n(&runner->free[index / WORD_BITS], __ATOMIC_RELAXED) >>
		       index % WORD_BITS &
	       1;
}

bool ferry__runner_withdraw(struct runner *runner, struct flexsc_entry *entry)
{
	bool withdrawn;

	pthread_mutex_lock(&runner->withdrawing);
	withdrawn = ferry__set_withdraw(runner->set, entry);
	pthread_mutex_unlock(&runner->withdrawing);
	return withdrawn;
}

/* A retired runner's thread starts again. */
static int come_back(struct runner *runner)
{
	unsigned int i;
	int error;

	if (runner->has_thread)
		pthread_join(runner->thread, NULL);
	__atomic_store_n(&runner->tid, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&runner->set->runner, FLEXSC_RUNNER_RUNNING, __ATOMIC_RELAXED);
	error = start_thread(runner);
	if (error)
		return error;
	__atomic_store_n(&runner->is_retired, false, __ATOMIC_RELEASE);
	for (i = 0; i < runner->set->count / WORD_BITS; i++)
		__atomic_store_n(&runner->free[i], ~0UL, __ATOMIC_RELEASE);
	return 0;
}

/* An idle runner without a slot: it was blocked and has caught up, or has retired. */
static struct runner *find_spare(const struct ferry_flexsc *flexsc)
{
	unsigned int i, slot;

	for (i = 0; i < flexsc->count; i++) {
		for (slot = 0; slot < flexsc->slots; slot++)
			if (flexsc->slot[slot] == flexsc->runner[i])
				break;
		if (slot == flexsc->slots &&
		    (flexsc->runner[i]->is_retired ||
		     __atomic_load_n(&flexsc->runner[i]->set->runner, __ATOMIC_RELAXED) ==
			     FLEXSC_RUNNER_ASLEEP))
			return flexsc->runner[i];
	}
	return NULL;
}

int ferry__runner_replace(struct ferry_flexsc *flexsc, unsigned int slot,
			  const struct runner *blocked)
{
	struct runner *spare;
	int error = 0;

	pthread_mutex_lock(&ferry__flexsc_mutex);
	if (flexsc->slot[slot] == blocked) {
		spare = find_spare(flexsc);
		if (!spare)
			error = ferry__runner_start(flexsc, -1, &spare);
		if (!error && spare->is_retired)
			error = come_back(spare);
		if (!error) {
			__atomic_store_n(&flexsc->slot[slot]->is_spare, true, __ATOMIC_RELAXED);
			__atomic_store_n(&spare->is_spare, false, __ATOMIC_RELAXED);
		}
		if (!error)
			__atomic_store_n(&flexsc->slot[slot], spare, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&ferry__flexsc_mutex);
	return error;
}

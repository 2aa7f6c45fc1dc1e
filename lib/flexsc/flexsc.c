// SPDX-License-Identifier: MIT
/* Starting and stopping the runners; single calls, from any thread. */
#include "flexsc.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "confinement.h"
#include "direct.h"
#include "event.h"
#include "futex.h"
#include "here.h"
#include "scheduler.h"
#include "spin.h"
#include "topology.h"
#include "waiting_call.h"

#define DEFAULT_ENTRIES 128
#define DEFAULT_STANDINS 256
#define FLAGS \
	(FERRY_FLEXSC_USER | FERRY_FLEXSC_TIMED | FERRY_FLEXSC_UNCONFINED | FERRY_FLEXSC_POST_ALL)

/* A crossing that takes longer than posting a call and waking a runner: the kernel is simulated. */
#define SLOW_CROSSING_NS 2000L
#define CROSSINGS 16

/*
 * How long to spin: longer than a sleep and a wake-up take.  In user-mode Linux that is the time of
 * some 20 crossings, and where both sides give up sooner, both sleep between any two rounds.
 */
#define LEAST_SPIN_NS 50000L
#define SPIN_CROSSINGS 32

/* How often a waiter checks its call and, while that has not begun, its runner. */
#define LOOK_AGAIN_NS 1000000000L
#define LOOK_AT_RUNNER_NS 1000000L

/* How long a user-level thread that waits for a ticket sleeps at a time. */
#define MOST_SLEEP_NS 1000000L

/* nr of an entry whose call the poster made itself: arg[0] is the result. */
#define MADE_HERE (-1)

/* nr of an entry whose call has moved to another runner: arg[0] is the new ticket. */
#define MOVED (-2)

static struct ferry_flexsc *all;

/* ---- forks ---- */

static void lock_before_fork(void)
{
	pthread_mutex_lock(&ferry__flexsc_mutex);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&ferry__flexsc_mutex);
}

/* Of the kernel threads, only the one that forked exists in the child. */
static void live_as_child(void)
{
	struct ferry_flexsc *flexsc;

	for (flexsc = all; flexsc; flexsc = flexsc->next)
		__atomic_store_n(&flexsc->users, 0, __ATOMIC_RELAXED);
	unlock_after_fork();
	ferry__scheduler_live_as_child();
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
	if (entries && (entries < WORD_BITS || entries > FERRY_FLEXSC_MAX_ENTRIES ||
			(entries & (entries - 1))))
		return -EINVAL;
	if (options->stack_size &&
	    (options->stack_size < MIN_STACK || options->stack_size > MAX_STACK))
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
	if (place != IN_USER && !(features & FERRY_FLEXSC_FEATURE_MEMBARRIER))
		flexsc->flags = FERRY_FLEXSC_FENCES;
	if (options->flags & FERRY_FLEXSC_TIMED)
		flexsc->flags |= FERRY_FLEXSC_TIMES;
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

static long default_spin_ns(const struct ferry_flexsc *flexsc, long crossing_ns)
{
	long ns = SPIN_CROSSINGS * crossing_ns;

	if (flexsc->has_one_cpu)
		return 0;
	return ns > LEAST_SPIN_NS ? ns : LEAST_SPIN_NS;
}

/* A runner in user space saves no crossings, and one on the caller's CPU no time. */
static enum posting_habit habit_of(const struct ferry_flexsc *flexsc)
{
	if (flexsc->posts_all || flexsc->flags & FERRY_FLEXSC_TIMES)
		return POSTS_ALWAYS;
	if (flexsc->has_one_cpu)
		return flexsc->place == IN_USER ? POSTS_NEVER : POSTS_ALWAYS;
	return flexsc->crossings_are_slow ? POSTS_ALWAYS : POSTS_IF_CLOSE;
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

static int fill_in(struct ferry_flexsc *flexsc, const struct ferry_flexsc_options *options)
{
	static unsigned long starts;
	long crossing_ns = fastest_crossing_ns();
	int cpus, error;

	flexsc->entries = options->entries ? options->entries : DEFAULT_ENTRIES;
	flexsc->slots = options->runners ? options->runners : 1;
	flexsc->eventfd = -1;
	flexsc->id = __atomic_add_fetch(&starts, 1, __ATOMIC_RELAXED);
	flexsc->trusts = options->flags & FERRY_FLEXSC_UNCONFINED;
	flexsc->posts_all = options->flags & FERRY_FLEXSC_POST_ALL;
	flexsc->key_rights = key_rights();
	flexsc->standins = options->standins ? options->standins : DEFAULT_STANDINS;
	flexsc->crossings_are_slow = crossing_ns > SLOW_CROSSING_NS;
	ferry__stack_pool_init(&flexsc->stacks,
			       options->stack_size ? options->stack_size : DEFAULT_STACK);
	cpus = ferry__flexsc_choose_cpus(flexsc->cpu, flexsc->slots);
	if (options->cpus)
		memcpy(flexsc->cpu, options->cpus, flexsc->slots * sizeof(flexsc->cpu[0]));
	note_cpus(flexsc);
	flexsc->has_one_cpu = has_one_cpu(flexsc, cpus);
	flexsc->spin_ns = options->spin_ns;
	if (!options->spin_ns)
		flexsc->spin_ns = default_spin_ns(flexsc, crossing_ns);
	if (options->spin_ns == FERRY_NO_SPIN)
		flexsc->spin_ns = 0;
	error = choose_place(flexsc, options);
	flexsc->habit = habit_of(flexsc);
	return error;
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
	ferry__stack_pool_empty(&flexsc->stacks);
	free(flexsc);
}

/* Not when the library is loaded: most programs that use it start no flexsc. */
static void prepare(void)
{
	ferry__look_for_keys();
	ferry__fill_in_ways();
	pthread_atfork(lock_before_fork, unlock_after_fork, live_as_child);
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
	pthread_mutex_lock(&ferry__flexsc_mutex);
	new->next = all;
	all = new;
	pthread_mutex_unlock(&ferry__flexsc_mutex);
	*flexsc = new;
	return 0;
}

static void leave_all(const struct ferry_flexsc *flexsc)
{
	struct ferry_flexsc **link = &all;

	pthread_mutex_lock(&ferry__flexsc_mutex);
	while (*link != flexsc)
		link = &(*link)->next;
	*link = flexsc->next;
	pthread_mutex_unlock(&ferry__flexsc_mutex);
}

int ferry_flexsc_stop(struct ferry_flexsc *flexsc)
{
	if (!flexsc)
		return 0;
	if (__atomic_load_n(&flexsc->users, __ATOMIC_ACQUIRE))
		return -EBUSY;
	leave_all(flexsc);
	end(flexsc);
	return 0;
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

/* ---- posting ---- */

static _Thread_local pid_t cached_id;

static void forget_id(void)
{
	cached_id = 0;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_id);
}

/* The thread's ID: only the first use makes a system call. */
static pid_t own_id(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (FERRY_UNLIKELY(!cached_id)) {
		pthread_once(&once, watch_forks);
		cached_id = gettid();
	}
	return cached_id;
}

/* Slots are given to threads in turn; a thread keeps its slot. */
static unsigned int own_slot(const struct ferry_flexsc *flexsc)
{
	static unsigned int threads;
	static _Thread_local unsigned int ordinal;

	if (!ordinal)
		ordinal = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
	return ordinal % flexsc->slots;
}

static struct ferry_entry *claim(struct ferry_flexsc *flexsc, struct runner **runner)
{
	unsigned int first = own_slot(flexsc), i;
	struct ferry_entry *entry;

	for (i = 0; i < flexsc->slots; i++) {
		*runner = flexsc_slot(flexsc, (first + i) % flexsc->slots);
		entry = ferry__runner_claim(flexsc, *runner);
		if (entry)
			return entry;
	}
	return NULL;
}

static long ticket_of(const struct ferry_flexsc *flexsc, const struct runner *runner,
		      const struct ferry_entry *entry)
{
	return (long)runner->index * flexsc->entries + (entry - runner->set->entry);
}

static struct runner *runner_of(const struct ferry_flexsc *flexsc, long ticket)
{
	return flexsc->runner[ticket / flexsc->entries];
}

static struct ferry_entry *entry_of(const struct ferry_flexsc *flexsc, long ticket)
{
	return &runner_of(flexsc, ticket)->set->entry[ticket % flexsc->entries];
}

static bool is_ticket(const struct ferry_flexsc *flexsc, long ticket)
{
	unsigned int count = __atomic_load_n(&flexsc->count, __ATOMIC_ACQUIRE);

	return ticket >= 0 && ticket / flexsc->entries < count;
}

static long finish_here(struct ferry_flexsc *flexsc, struct runner *runner,
			struct ferry_entry *entry, long result)
{
	entry->nr = MADE_HERE;
	entry->arg[0] = result;
	__atomic_store_n(&entry->status, FERRY_ENTRY_DONE, __ATOMIC_RELEASE);
	return ticket_of(flexsc, runner, entry);
}

/* Fills in a call that signals EVENTFD, or none if that is -1. */
static int fill_in_call(struct ferry_entry *entry, int eventfd, long nr, const long args[],
			unsigned int argc)
{
	if (eventfd >= 0)
		return ferry__event_fill(entry, eventfd, nr, args, argc);
	if (argc)
		memcpy(entry->arg, args, argc * sizeof(long));
	entry->nr = (short)nr;
	__atomic_store_n(&entry->argc, (unsigned char)argc, __ATOMIC_RELAXED);
	return 0;
}

static long post(struct ferry_flexsc *flexsc, int eventfd, long nr, const long args[],
		 unsigned int argc)
{
	__s64 all[FERRY_MAX_ARGS] = { 0 };
	struct ferry_entry *entry;
	struct runner *runner;
	long ticket;

	if (nr < SHRT_MIN || nr > SHRT_MAX || argc > FERRY_MAX_ARGS)
		return -EINVAL;
	entry = claim(flexsc, &runner);
	if (!entry)
		return -EAGAIN;
	if (!may_be_posted(nr, ferry__posting_limit(flexsc))) {
		if (argc)
			memcpy(all, args, argc * sizeof(long));
		ticket = finish_here(flexsc, runner, entry, ferry__call_here(nr, all));
		if (eventfd >= 0)
			ferry__event_signal(eventfd);
		return ticket;
	}
	if (fill_in_call(entry, eventfd, nr, args, argc)) {
		ferry__runner_free(runner, entry);
		return -ENOMEM;
	}
	entry->result = own_id();
	ferry__entry_submit(runner->set, entry);
	if (eventfd >= 0)
		ferry__watcher_rouse(flexsc);
	return ticket_of(flexsc, runner, entry);
}

long ferry_flexsc_post(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc)
{
	int eventfd = __atomic_load_n(&flexsc->eventfd, __ATOMIC_ACQUIRE);

	return post(flexsc, eventfd, nr, args, argc);
}

long ferry_flexsc_post_batch(struct ferry_flexsc *flexsc, long rets[],
			     const struct ferry_slot calls[], unsigned long ncall)
{
	struct ferry_entry *entry;
	struct runner *runner;

	entry = claim(flexsc, &runner);
	if (!entry)
		return -EAGAIN;
	if (!ferry__batch_may_be_posted(calls, ncall, ferry__posting_limit(flexsc)))
		return finish_here(flexsc, runner, entry, ferry__batch_here(rets, calls, ncall));
	entry->nr = FERRY_NR_BATCH;
	__atomic_store_n(&entry->argc, 5, __ATOMIC_RELAXED);
	entry->arg[0] = (long)rets;
	entry->arg[1] = (long)calls;
	entry->arg[2] = (long)ncall;
	entry->arg[3] = entry->arg[4] = 0;
	entry->result = own_id();
	ferry__entry_submit(runner->set, entry);
	return ticket_of(flexsc, runner, entry);
}

/* The caller holds the mutex. */
static int open_eventfd(struct ferry_flexsc *flexsc)
{
	int error, fd;

	if (flexsc->eventfd >= 0)
		return flexsc->eventfd;
	fd = (int)ferry_rawcall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK, 0, 0, 0, 0);
	if (fd < 0)
		return fd;
	__atomic_store_n(&flexsc->eventfd, fd, __ATOMIC_RELEASE);
	/* A forked child has no runners to watch, and would not end the thread. */
	error = set_is_wiped(flexsc->runner[0]->set) ? 0 : ferry__watcher_start(flexsc);
	if (error) {
		__atomic_store_n(&flexsc->eventfd, -1, __ATOMIC_RELAXED);
		close(fd);
		return error;
	}
	return fd;
}

int ferry_flexsc_eventfd(struct ferry_flexsc *flexsc)
{
	int fd;

	pthread_mutex_lock(&ferry__flexsc_mutex);
	fd = open_eventfd(flexsc);
	pthread_mutex_unlock(&ferry__flexsc_mutex);
	return fd;
}

/* ---- collecting ---- */

/* In a child, entries of calls under way read as FREE. */
static bool is_over(const struct runner *runner, const struct ferry_entry *entry)
{
	return entry_is_over(entry) || set_is_wiped(runner->set);
}

/* Only the thread that posted a refused call may make it. */
static long make_refused(const struct ferry_entry *entry)
{
	return entry->result == own_id() ? ferry__entry_run(entry) : -EPERM;
}

static long collect(struct runner *runner, struct ferry_entry *entry)
{
	long result = -ECANCELED;

	if (entry_is_refused(entry))
		result = make_refused(entry);
	else if (entry_is_done(entry))
		result = entry->nr == MADE_HERE ? entry->arg[0] : entry->result;
	result = ferry__event_collect(entry, result);
	__atomic_store_n(&entry->status, FERRY_ENTRY_FREE, __ATOMIC_RELAXED);
	ferry__runner_free(runner, entry);
	return result;
}

/* Frees the entries that the call of TICKET has left, and returns the ticket of where it is. */
static long follow(const struct ferry_flexsc *flexsc, long ticket)
{
	const struct ferry_entry *entry;
	long next;

	for (;; ticket = next) {
		entry = entry_of(flexsc, ticket);
		if (entry->nr != MOVED)
			return ticket;
		next = entry->arg[0];
		ferry__runner_free(runner_of(flexsc, ticket), entry);
	}
}

static struct ferry_entry *current_entry(const struct ferry_flexsc *flexsc, long *ticket)
{
	struct ferry_entry *entry;

	while ((entry = entry_of(flexsc, *ticket))->nr == MOVED)
		*ticket = entry->arg[0];
	return entry;
}

/* A runner that does not block, instead of BLOCKED; NULL if there are too many. */
static struct runner *other_runner(struct ferry_flexsc *flexsc, const struct runner *blocked)
{
	unsigned int slot;

	for (slot = 0; slot < flexsc->slots; slot++)
		if (flexsc_slot(flexsc, slot) == blocked)
			break;
	if (slot == flexsc->slots)
		slot = 0;
	else if (ferry__runner_replace(flexsc, slot, blocked))
		return NULL;
	return flexsc_slot(flexsc, slot);
}

/* Moves a withdrawn call to another runner.  Without one, it goes back to where it was. */
static void move(struct ferry_flexsc *flexsc, struct runner *from, struct ferry_entry *old)
{
	struct runner *to = other_runner(flexsc, from);
	struct ferry_entry *new = to ? ferry__runner_claim(flexsc, to) : NULL;

	if (!new) {
		ferry__entry_submit(from->set, old);
		return;
	}
	entry_fill(new, old->nr, old->arg[0], old->arg[1], old->arg[2], old->arg[3], old->arg[4],
		   old->arg[5]);
	new->result = old->result;
	__atomic_store_n(&new->argc, __atomic_load_n(&old->argc, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
	old->nr = MOVED;
	old->arg[0] = ticket_of(flexsc, to, new);
	ferry__entry_submit(to->set, new);
}

/* Whether RUNNER is blocked, or was less than a millisecond ago. */
static bool was_blocked(struct runner *runner)
{
	long now = clock_ns();

	if (now - __atomic_load_n(&runner->looked_ns, __ATOMIC_RELAXED) >= LOOK_AT_RUNNER_NS) {
		__atomic_store_n(&runner->looked_ns, now, __ATOMIC_RELAXED);
		__atomic_store_n(&runner->was_blocked, ferry__runner_is_blocked(runner),
				 __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&runner->was_blocked, __ATOMIC_RELAXED);
}

/* A call behind one that blocks would never be made: no thread sleeps on it. */
static void move_if_behind(struct ferry_flexsc *flexsc, struct runner *runner,
			   struct ferry_entry *entry)
{
	if (!entry_is_begun(entry) && was_blocked(runner) &&
	    ferry__runner_withdraw(runner, entry, 1))
		move(flexsc, runner, entry);
}

/* Sleeps until the call is over and returns 0, or takes it back and returns 1. */
static int sleep_until_over(struct runner *runner, struct ferry_entry *entry)
{
	bool begun;

	while (!is_over(runner, entry)) {
		begun = entry_is_begun(entry);
		if (ferry__entries_expect_wake(&entry, 1, runner->set->flags))
			ferry__futex_wait(&entry->status, FERRY_ENTRY_SUBMITTED,
					  begun ? LOOK_AGAIN_NS : LOOK_AT_RUNNER_NS);
		ferry__entry_expect_none(entry);
		if (!begun && !entry_is_begun(entry) && ferry__runner_is_blocked(runner) &&
		    ferry__runner_withdraw(runner, entry, 1))
			return 1;
	}
	return 0;
}

int ferry_flexsc_poll(struct ferry_flexsc *flexsc, long ticket, long *result)
{
	long first = ticket;
	struct ferry_entry *entry;
	struct runner *runner;

	if (!is_ticket(flexsc, ticket))
		return 0;
	entry = current_entry(flexsc, &ticket);
	runner = runner_of(flexsc, ticket);
	/* The event comes before DONE. */
	if (ferry__event_has_result(entry))
		sleep_until_over(runner, entry);
	if (!is_over(runner, entry)) {
		if (!entry_is_begun(entry))
			move_if_behind(flexsc, runner, entry);
		return 0;
	}
	follow(flexsc, first);
	*result = collect(runner, entry);
	return 1;
}

static bool spin_until_over(const struct ferry_flexsc *flexsc, const struct runner *runner,
			    const struct ferry_entry *entry)
{
	long start = 0;
	unsigned int steps;

	for (steps = 1; !is_over(runner, entry); steps++) {
		pause_briefly();
		if (steps % 16)
			continue;
		if (!start)
			start = clock_ns();
		if (clock_ns() - start >= flexsc->spin_ns)
			return false;
	}
	return true;
}

/* The other user-level threads run meanwhile. */
static long wait_in_thread(struct ferry_flexsc *flexsc, long ticket)
{
	long result, ns;

	for (ns = 0; !ferry_flexsc_poll(flexsc, ticket, &result); ns += ns / 2 + 1000)
		ferry_thread_sleep(ns < MOST_SLEEP_NS ? ns : MOST_SLEEP_NS);
	return result;
}

long ferry_flexsc_wait(struct ferry_flexsc *flexsc, long first)
{
	const struct scheduler *s = ferry__scheduler;
	struct ferry_entry *entry;
	struct runner *runner;
	long result, ticket;

	if (!is_ticket(flexsc, first) ||
	    ferry__runner_has_free(runner_of(flexsc, first), entry_of(flexsc, first)))
		return -EINVAL;
	if (s && !scheduler_is_inside(s))
		return wait_in_thread(flexsc, first);
	ticket = follow(flexsc, first);
	runner = runner_of(flexsc, ticket);
	entry = entry_of(flexsc, ticket);
	if (spin_until_over(flexsc, runner, entry) || !sleep_until_over(runner, entry))
		return collect(runner, entry);
	result = ferry__event_collect(entry, ferry__entry_run(entry));
	ferry__runner_free(runner, entry);
	return result;
}

long ferry_flexsc_call(struct ferry_flexsc *flexsc, long nr, const long args[], unsigned int argc)
{
	__s64 all[FERRY_MAX_ARGS] = { 0 };
	long ticket;

	if (argc > FERRY_MAX_ARGS)
		return -EINVAL;
	if (may_be_posted(nr, ferry__posting_limit(flexsc))) {
		ticket = post(flexsc, -1, nr, args, argc);
		if (ticket >= 0)
			return ferry_flexsc_wait(flexsc, ticket);
	}
	if (argc)
		memcpy(all, args, argc * sizeof(long));
	return ferry__call_here(nr, all);
}

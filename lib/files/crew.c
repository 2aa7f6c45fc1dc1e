// SPDX-License-Identifier: MIT
#include "crew.h"

#include <sched.h>
#include <sys/resource.h>

#include <ferry/rawcall.h>

#include "clock.h"
#include "pool.h"

#define PROGRESS_NSEC (100 * NSEC_PER_MSEC)

/* Members that keep a disk busy when most of them wait for it. */
#define MOST_WAITING 32U

/* A member waits for the disk if it waited for this part of a time that is long enough to judge. */
#define WAITING_PART 4
#define LOOK_NSEC NSEC_PER_MSEC

static unsigned int usable_cpus(void)
{
	cpu_set_t set;
	long size = ferry_rawcall(SYS_sched_getaffinity, 0, sizeof(set), (long)&set, 0, 0, 0);

	if (size <= 0)
		return 1; /* more CPUs than a set holds cannot be counted */
	return (unsigned int)CPU_COUNT_S((size_t)size, &set);
}

void ferry__crew_init(struct crew *crew, void (*work)(struct member *member),
		      const struct ferry_files_options *options)
{
	static const struct ferry_files_options none;

	*crew = (struct crew){ .work = work, .options = options ? options : &none, .size = 1 };
}

/* ---- ending early, progress ---- */

static bool is_cancelled(const struct ferry_files_options *options)
{
	return options->cancel && __atomic_load_n(options->cancel, __ATOMIC_RELAXED);
}

static bool has_stopped(const struct crew *crew)
{
	return atomic_load_explicit(&crew->stopped, memory_order_relaxed);
}

static void report_progress(struct crew *crew)
{
	const struct ferry_files_options *options = crew->options;
	long time = ferry__now();

	if (!crew->next_progress)
		crew->next_progress = time + PROGRESS_NSEC;
	if (time < crew->next_progress)
		return;
	crew->next_progress = time + PROGRESS_NSEC;
	if (options->progress(options->context,
			      atomic_load_explicit(&crew->done, memory_order_relaxed)))
		ferry__crew_stop(crew);
}

bool ferry__crew_stopped(struct member *member)
{
	struct crew *crew = member->crew;

	if (has_stopped(crew))
		return true; /* nothing is reported to a callback that has ended the job */
	if (member->is_caller && crew->options->progress)
		report_progress(crew);
	if (is_cancelled(crew->options))
		ferry__crew_stop(crew);
	return has_stopped(crew);
}

void ferry__crew_report_soon(struct crew *crew)
{
	crew->next_progress = 1;
}

void ferry__crew_stop(struct crew *crew)
{
	atomic_store_explicit(&crew->stopped, true, memory_order_relaxed);
}

/* ---- members ---- */

/* Those of the calling thread. */
static struct times read_times(long now)
{
	struct rusage usage = { 0 };

	ferry_rawcall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0);
	return (struct times){
		.now = now,
		.cpu = ferry__time_of(CLOCK_THREAD_CPUTIME_ID),
		.waits = usage.ru_nvcsw,
		.preempted = usage.ru_nivcsw,
	};
}

/* Whether a member waited for a good part of the time.  One that was preempted cannot know. */
static bool waited_long(const struct times *from, const struct times *to)
{
	long time = to->now - from->now, waited = time - (to->cpu - from->cpu);

	return to->waits != from->waits && to->preempted == from->preempted &&
	       waited * WAITING_PART >= time;
}

/* Two system calls. */
static void begin_look(struct member *member, long time)
{
	if (member->crew->most > 1)
		member->times = read_times(time);
}

/* What was shorter than a look leaves it to the next one. */
void ferry__crew_forgive(struct member *member)
{
	long time = ferry__now();

	if (time - member->times.now >= LOOK_NSEC)
		begin_look(member, time);
}

static void work_as(struct crew *crew, bool is_caller)
{
	struct member member = { .crew = crew, .is_caller = is_caller };

	begin_look(&member, ferry__now());
	crew->work(&member);
}

static void help(void *argument)
{
	struct crew *crew = argument;

	work_as(crew, false);
}

static void leave(void *argument)
{
	struct crew *crew = argument;

	pthread_mutex_lock(&crew->lock);
	if (!--crew->helpers)
		pthread_cond_signal(&crew->left);
	pthread_mutex_unlock(&crew->lock);
}

/* Adds a helper unless there are LIMIT members. */
static bool add_helper(struct crew *crew, unsigned int limit)
{
	unsigned int size = atomic_load_explicit(&crew->size, memory_order_relaxed);

	do {
		if (size >= limit)
			return false;
	} while (!atomic_compare_exchange_weak(&crew->size, &size, size + 1));
	pthread_mutex_lock(&crew->lock);
	crew->helpers++;
	pthread_mutex_unlock(&crew->lock);
	if (ferry__pool_run(help, leave, crew))
		return true;
	/* Only members add helpers, and the caller before it waits: none is missed. */
	pthread_mutex_lock(&crew->lock);
	crew->helpers--;
	pthread_mutex_unlock(&crew->lock);
	return false;
}

void ferry__crew_add_for_cpu(struct crew *crew)
{
	add_helper(crew, crew->cpus);
}

void ferry__crew_did(struct member *member, size_t items)
{
	struct crew *crew = member->crew;
	struct times times;
	long time;

	atomic_fetch_add_explicit(&crew->done, items, memory_order_relaxed);
	if (atomic_load_explicit(&crew->size, memory_order_relaxed) >= crew->most)
		return;
	time = ferry__now();
	if (time - member->times.now < LOOK_NSEC)
		return;
	times = read_times(time);
	if (waited_long(&member->times, &times))
		add_helper(crew, crew->most);
	member->times = times;
}

/* The caller keeps reporting progress while it waits. */
static void wait_for_helpers(struct crew *crew)
{
	struct member caller = { .crew = crew, .is_caller = true };

	pthread_mutex_lock(&crew->lock);
	while (crew->helpers) {
		if (ferry__wait_until(&crew->left, &crew->lock, ferry__now() + PROGRESS_NSEC / 2))
			continue;
		pthread_mutex_unlock(&crew->lock);
		ferry__crew_stopped(&caller);
		pthread_mutex_lock(&crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
}

static void set_limits(struct crew *crew)
{
	const struct ferry_files_options *options = crew->options;

	crew->cpus = options->threads == 1 ? 1 : usable_cpus();
	if (options->threads) {
		crew->most = options->threads;
		crew->cpus = options->threads;
		return;
	}
	crew->most = crew->cpus > MOST_WAITING ? crew->cpus : MOST_WAITING;
	/* Each call through a proxy waits, which says nothing about the disk. */
	if (options->timeout_ms)
		crew->most = crew->cpus;
}

/* A caller that is cancelled must not end, with the crew on its stack, before the crew has. */
static int hold_cancellation(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

void ferry__crew_run_alone(struct crew *crew)
{
	int before = hold_cancellation();

	crew->cpus = 1;
	crew->most = 1;
	work_as(crew, true);
	pthread_setcancelstate(before, NULL);
}

void ferry__crew_run(struct crew *crew, unsigned int threads)
{
	int before = hold_cancellation();

	set_limits(crew);
	atomic_store(&crew->size, 1);
	pthread_mutex_init(&crew->lock, NULL);
	ferry__condition_init(&crew->left);
	while (--threads && add_helper(crew, crew->cpus))
		;
	work_as(crew, true);
	wait_for_helpers(crew);
	pthread_cond_destroy(&crew->left);
	pthread_mutex_destroy(&crew->lock);
	pthread_setcancelstate(before, NULL);
}

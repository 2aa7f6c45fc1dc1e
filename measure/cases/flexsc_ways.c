// SPDX-License-Identifier: MIT
#include "flexsc_ways.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <ferry/rawcall.h>
#include <ferry_flexsc.h>

#include "common/memory.h"
#include "common/messages.h"
#include "measure/harness/clock.h"
#include "measure/harness/interrupt.h"
#include "measure/harness/machine.h"
#include "slot.h"

/* Calls in a batch, and requests under way in a ring. */
#define AT_ONCE 64

/* Calls that a thread takes from the crew at a time. */
#define SHARE 50

/* Milliseconds until io_uring's thread sleeps: the least there is. */
#define SQPOLL_IDLE_MS 1

static int null_file = -1;
static nlink_t threads_at_first;

const char *way_name(enum way way)
{
	static const char *const names[WAYS] = { "plain",  "batch",    "uring",
						 "sqpoll", "pthreads", "flexsc" };

	return names[way];
}

/* The threads of this process: in proc(5), the links of a directory. */
static nlink_t thread_count(void)
{
	struct stat task;

	return stat("/proc/self/task", &task) ? 0 : task.st_nlink;
}

/* The kernel does not report the end of its threads, so this polls. */
void ways_wait_until_alone(void)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	int i;

	for (i = 0; i < 1000 && thread_count() > threads_at_first; i++)
		nanosleep(&pause, NULL);
}

void ways_open(void)
{
	threads_at_first = thread_count();
	if (null_file < 0)
		null_file = open("/dev/null", O_WRONLY | O_CLOEXEC);
}

/* ---- the work ---- */

static void work(long loops)
{
	long i;

	for (i = 0; i < loops; i++)
		__asm__ volatile("");
}

static void work_a_while(void *loops)
{
	work(*(const long *)loops);
}

long work_loops(double ns)
{
	static double loop_ns;
	long loops = 100000;

	if (loop_ns == 0)
		loop_ns = clock_least(work_a_while, NULL, &loops, 20) / (double)loops;
	return (long)(ns / loop_ns);
}

/* ---- the calls ---- */

static bool is_write(const struct job *job)
{
	return !strcmp(job->call, "write");
}

static bool worked(const struct job *job, long result)
{
	return is_write(job) ? result == 1 : result > 0;
}

static bool complain_of(enum way way, const struct job *job, long result)
{
	complain("bench: %s by %s gave %ld", job->call, way_name(way), result);
	return false;
}

static long call_plainly(const struct job *job)
{
	if (is_write(job))
		return ferry_rawcall(SYS_write, null_file, (long)"x", 1, 0, 0, 0);
	return ferry_rawcall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static bool run_plain(struct job *job)
{
	double start = 0;
	long i, result;

	for (i = 0; i < job->calls && !interrupted(); i++) {
		if (job->samples)
			start = now_ns();
		result = call_plainly(job);
		if (job->samples)
			job->samples[i] = now_ns() - start;
		if (!worked(job, result))
			return complain_of(PLAIN, job, result);
		work(job->loops);
	}
	return true;
}

static bool run_batch(struct job *job)
{
	static struct batch_slot slots[AT_ONCE] __attribute__((aligned(64)));
	long rets[AT_ONCE], done, i, some;
	double start, taken;

	for (i = 0; i < AT_ONCE; i++)
		slots[i] = is_write(job) ?
				   (struct batch_slot){ CALL(SYS_write, null_file, (long)"x", 1) } :
				   (struct batch_slot){ .nr = SYS_getpid };
	for (done = 0; done < job->calls && !interrupted(); done += some) {
		some = job->calls - done < AT_ONCE ? job->calls - done : AT_ONCE;
		start = job->samples ? now_ns() : 0;
		if (ferry_batch(rets, slots, (unsigned long)some, 0, 0) != some - 1)
			return complain_of(BATCH, job, rets[0]);
		taken = job->samples ? now_ns() - start : 0;
		for (i = 0; i < some; i++) {
			if (job->samples)
				job->samples[done + i] = taken;
			if (!worked(job, rets[i]))
				return complain_of(BATCH, job, rets[i]);
			work(job->loops);
		}
	}
	return true;
}

/* ---- io_uring ---- */

static bool ring_open(struct io_uring *ring, const struct job *job, bool poll)
{
	struct io_uring_params params = { 0 };
	int error;

	if (poll) {
		params.flags = IORING_SETUP_SQPOLL;
		params.sq_thread_idle = SQPOLL_IDLE_MS;
	}
	if (poll && job->other_cpu >= 0) {
		params.flags |= IORING_SETUP_SQ_AFF;
		params.sq_thread_cpu = (unsigned int)job->other_cpu;
	}
	error = io_uring_queue_init_params(AT_ONCE, ring, &params);
	if (error)
		complain("bench: no io_uring: %s", strerror(-error));
	return !error;
}

static void ring_add(struct io_uring *ring, const double *started)
{
	struct io_uring_sqe *sqe;

	/* The kernel's thread gives places back after it has completed the requests in them. */
	while (!(sqe = io_uring_get_sqe(ring)))
		;
	io_uring_prep_write(sqe, null_file, "x", 1, 0);
	io_uring_sqe_set_data(sqe, (void *)started);
}

/* Takes a result off the ring, if one is there: the place of its starting time, or NULL. */
static double *ring_take(struct io_uring *ring, int *result)
{
	struct io_uring_cqe *cqe;
	double *started;

	if (io_uring_peek_cqe(ring, &cqe))
		return NULL;
	*result = cqe->res;
	started = io_uring_cqe_get_data(cqe);
	io_uring_cqe_seen(ring, cqe);
	return started;
}

/* AT_ONCE under way; without polling all of them come before the next are sent. */
static bool run_ring(struct job *job, bool poll)
{
	double started[AT_ONCE] = { 0 }, *from;
	long sent = 0, done = 0, under_way;
	enum way way = poll ? SQPOLL : URING;
	struct io_uring ring;
	int result = 1;

	if (!ring_open(&ring, job, poll))
		return false;
	for (; sent < AT_ONCE && sent < job->calls; sent++) {
		started[sent] = job->samples ? now_ns() : 0;
		ring_add(&ring, &started[sent]);
	}
	under_way = sent;
	if (poll)
		io_uring_submit(&ring);
	else
		io_uring_submit_and_wait(&ring, (unsigned int)under_way);
	while (done < job->calls && result == 1 && !interrupted()) {
		from = ring_take(&ring, &result);
		if (!from)
			continue;
		if (job->samples)
			job->samples[done] = now_ns() - *from;
		done++;
		work(job->loops);
		if (sent < job->calls) {
			sent++;
			*from = job->samples ? now_ns() : 0;
			ring_add(&ring, from);
			if (poll)
				io_uring_submit(&ring);
		}
		if (!poll && done == under_way && done < job->calls) {
			under_way = sent;
			io_uring_submit_and_wait(&ring, (unsigned int)(sent - done));
		}
	}
	io_uring_queue_exit(&ring);
	return result == 1 || complain_of(way, job, result);
}

/* ---- time ---- */

/* What other threads used: runners to the nanosecond, io_uring's to the kernel's tick. */
static double others_ns(enum way way, const struct job *job)
{
	if (way == FLEXSC)
		return (double)ferry_flexsc_cpu_ns(job->flexsc);
	if (way == URING || way == SQPOLL)
		return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return 0;
}

static double callers_ns(enum way way, const struct job *job)
{
	if (way_has_threads(way))
		return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - others_ns(way, job);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void start_clock(enum way way, struct job *job)
{
	job->callers = -callers_ns(way, job);
	job->others = -others_ns(way, job);
	job->taken = -clock_now();
}

static void stop_clock(enum way way, struct job *job)
{
	job->taken += clock_now();
	job->callers += callers_ns(way, job);
	job->others += others_ns(way, job);
}

/* ---- several threads ---- */

/* What the threads of a cell share.  Their start and their end do not count. */
struct crew {
	enum way way;
	struct job *job;
	long left;	   /* calls; atomic */
	size_t unfinished; /* threads; atomic */
	long bad;	   /* a result that is wrong; atomic */
	bool has_failed;   /* BAD is one; atomic */
	pthread_barrier_t start, end;
};

/* The calls from FIRST on that this thread is to make: how many. */
static long take_share(struct crew *crew, long *first)
{
	long left = __atomic_fetch_sub(&crew->left, SHARE, __ATOMIC_RELAXED);

	if (interrupted())
		return 0;
	*first = crew->job->calls - left;
	return left < SHARE ? left : SHARE;
}

static void check(struct crew *crew, long result)
{
	if (worked(crew->job, result))
		return;
	__atomic_store_n(&crew->bad, result, __ATOMIC_RELAXED);
	__atomic_store_n(&crew->has_failed, true, __ATOMIC_RELEASE);
}

static void make_calls(struct crew *crew)
{
	const struct job *job = crew->job;
	double start = 0;
	long first, count, i, result;

	while ((count = take_share(crew, &first)) > 0) {
		for (i = first; i < first + count; i++) {
			if (job->samples)
				start = now_ns();
			result = call_plainly(job);
			if (job->samples)
				job->samples[i] = now_ns() - start;
			check(crew, result);
			work(job->loops);
		}
	}
}

/* Calls that a thread has posted and not collected, in a circle. */
struct posted {
	unsigned int first, count;
	struct {
		long ticket, call;
		double start;
	} of[POSTED_AT_ONCE];
};

static void collect(struct crew *crew, struct posted *posted, unsigned int index)
{
	const struct job *job = crew->job;
	unsigned int i = (posted->first + index) % POSTED_AT_ONCE;

	check(crew, ferry_flexsc_wait(job->flexsc, posted->of[i].ticket));
	if (job->samples)
		job->samples[posted->of[i].call] = now_ns() - posted->of[i].start;
}

/* The youngest first: then the others are done, and no entry is looked at before it is. */
static void collect_oldest(struct crew *crew, struct posted *posted, unsigned int count)
{
	unsigned int i = count;

	while (i--)
		collect(crew, posted, i);
	posted->first = (posted->first + count) % POSTED_AT_ONCE;
	posted->count -= count;
}

static long post_call(const struct job *job)
{
	const long args[] = { null_file, (long)"x", 1 };

	if (is_write(job))
		return ferry_flexsc_post(job->flexsc, SYS_write, args, 3);
	return ferry_flexsc_post(job->flexsc, SYS_getpid, NULL, 0);
}

/*
 * The threads have no more calls under way than there are entries, but while others post and
 * collect, the free one may be where this thread looked before.
 */
static long post_surely(const struct job *job)
{
	long ticket;

	while ((ticket = post_call(job)) == -EAGAIN)
		sched_yield();
	return ticket;
}

static void post_calls(struct crew *crew)
{
	const struct job *job = crew->job;
	struct posted posted = { 0 };
	long first, count, i;
	unsigned int at;

	while ((count = take_share(crew, &first)) > 0) {
		for (i = first; i < first + count; i++) {
			if (posted.count == POSTED_AT_ONCE)
				collect_oldest(crew, &posted, POSTED_AT_ONCE / 2);
			at = (posted.first + posted.count++) % POSTED_AT_ONCE;
			posted.of[at].call = i;
			posted.of[at].start = job->samples ? now_ns() : 0;
			posted.of[at].ticket = post_surely(job);
			work(job->loops);
		}
	}
	collect_oldest(crew, &posted, posted.count);
}

static void *run_in_crew(void *argument)
{
	struct crew *crew = argument;

	if (crew->way == PTHREADS)
		use_cpus(crew->job->cpu, crew->job->other_cpu);
	pthread_barrier_wait(&crew->start);
	if (crew->way == FLEXSC)
		post_calls(crew);
	else
		make_calls(crew);
	if (!__atomic_sub_fetch(&crew->unfinished, 1, __ATOMIC_ACQ_REL))
		stop_clock(crew->way, crew->job);
	pthread_barrier_wait(&crew->end);
	return NULL;
}

static bool run_crew(enum way way, struct job *job)
{
	struct crew crew = {
		.way = way, .job = job, .left = job->calls, .unfinished = (size_t)job->threads
	};
	pthread_t *threads = allocate((size_t)job->threads, sizeof(*threads));
	long i;

	pthread_barrier_init(&crew.start, NULL, (unsigned int)job->threads + 1);
	pthread_barrier_init(&crew.end, NULL, (unsigned int)job->threads);
	for (i = 0; i < job->threads; i++)
		if (pthread_create(&threads[i], NULL, run_in_crew, &crew)) {
			complain("bench: no %ld threads can be started", job->threads);
			exit(EXIT_FOUND); /* the running threads wait for the others */
		}
	start_clock(way, job);
	pthread_barrier_wait(&crew.start);
	for (i = 0; i < job->threads; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&crew.start);
	pthread_barrier_destroy(&crew.end);
	free(threads);
	return !crew.has_failed || complain_of(way, job, crew.bad);
}

/* ---- each way ---- */

const char *way_missing(enum way way, const char *call)
{
	struct io_uring ring;

	if (way != URING && way != SQPOLL)
		return NULL;
	if (strcmp(call, "write") != 0)
		return "io_uring has no request for this call";
	if (io_uring_queue_init(1, &ring, way == SQPOLL ? IORING_SETUP_SQPOLL : 0))
		return "this kernel does not offer it to this process";
	io_uring_queue_exit(&ring);
	return NULL;
}

static bool run_alone(enum way way, struct job *job)
{
	switch (way) {
	case PLAIN:
		return run_plain(job);
	case BATCH:
		return run_batch(job);
	default:
		return run_ring(job, way == SQPOLL);
	}
}

bool way_run(enum way way, struct job *job)
{
	bool ran;

	if (way_has_threads(way))
		return run_crew(way, job);
	start_clock(way, job);
	ran = run_alone(way, job);
	stop_clock(way, job);
	return ran;
}

// SPDX-License-Identifier: MIT
#include "flexsc_ways.h"

#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
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
#include "measure/harness/machine.h"
#include "slot.h"

/* Calls in a batch, and requests under way in a ring. */
#define AT_ONCE 64

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

	for (i = 0; i < job->calls; i++) {
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

static void *run_half(void *argument)
{
	struct job *job = argument;

	use_cpus(job->other_cpu, -1);
	return run_plain(job) ? job : NULL;
}

/* Two threads, each on a CPU of its own. */
static bool run_pair(struct job *job)
{
	struct job mine = *job, other = *job;
	pthread_t thread;
	void *ran;
	bool ok;

	other.calls = job->calls / 2;
	mine.calls -= other.calls;
	if (job->samples)
		other.samples += mine.calls;
	if (pthread_create(&thread, NULL, run_half, &other)) {
		complain("bench: no thread can be started");
		return false;
	}
	ok = run_plain(&mine);
	pthread_join(thread, &ran);
	return ok && ran;
}

static bool run_batch(struct job *job)
{
	static struct ferry_slot slots[AT_ONCE] __attribute__((aligned(64)));
	long rets[AT_ONCE], done, i, some;
	double start, taken;

	for (i = 0; i < AT_ONCE; i++)
		slots[i] = is_write(job) ?
				   (struct ferry_slot){ CALL(SYS_write, null_file, (long)"x", 1) } :
				   (struct ferry_slot){ .nr = SYS_getpid };
	for (done = 0; done < job->calls; done += some) {
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
	while (done < job->calls && result == 1) {
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

/* ---- flexsc ---- */

/* What the threads of a cell share. */
struct crew {
	struct job *job;
	long left, taken; /* calls */
	long bad;	  /* a result that is wrong, or 1 */
};

static void note_times(struct crew *crew, long sample)
{
	struct ferry_flexsc_times t = ferry_flexsc_times();
	double *phases = crew->job->phases;

	crew->job->samples[sample] = (double)(t.seen - t.asked);
	phases[0] += (double)(t.posted - t.asked);
	phases[1] += (double)(t.taken - t.posted);
	phases[2] += (double)(t.run - t.taken);
	phases[3] += (double)(t.seen - t.run);
}

static void *call_in_thread(void *argument)
{
	struct crew *crew = argument;
	struct job *job = crew->job;
	long result, loops = job->loops;
	bool write = is_write(job);

	while (crew->left-- > 0) {
		result = write ? ferry_write(null_file, "x", 1) : ferry_getpid();
		if (!worked(job, result))
			crew->bad = result;
		if (job->samples)
			note_times(crew, crew->taken++);
		work(loops);
	}
	return NULL;
}

static bool run_flexsc(struct job *job)
{
	struct crew crew = { .job = job, .left = job->calls, .bad = 1 };
	struct ferry_thread **threads =
		allocate((size_t)job->threads, sizeof(struct ferry_thread *));
	long i, spawned = 0;
	int error = 0;

	for (; spawned < job->threads && !error; spawned++)
		error = ferry_thread_spawn(&threads[spawned], job->flexsc, call_in_thread, &crew);
	if (error) {
		complain("bench: no %ld user-level threads: %s", job->threads, strerror(-error));
		spawned--;
	}
	for (i = 0; i < spawned; i++)
		ferry_thread_join(threads[i], NULL);
	free(threads);
	return !error && (crew.bad == 1 || complain_of(FLEXSC, job, crew.bad));
}

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

bool way_run(enum way way, struct job *job)
{
	switch (way) {
	case PLAIN:
		return run_plain(job);
	case PAIR:
		return run_pair(job);
	case BATCH:
		return run_batch(job);
	case FLEXSC:
		return run_flexsc(job);
	default:
		return run_ring(job, way == SQPOLL);
	}
}

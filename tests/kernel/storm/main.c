// SPDX-License-Identifier: MIT
/*
 * Threads run random batches while others of their process interrupt them, install filters
 * and change credentials, and another process stops, freezes and traces them, and kills some.
 * The outcome of each batch has to be one that a loop of calls can have.  Meant for a guest
 * whose console is watched.  Exits with 77 if the engine is not available.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ferry.h>

#include "program.h"
#include "tests/kernel/fuzz/coverage.h"
#include "weather.h"

#define EXIT_SKIPPED 77
#define WORKERS 3
#define DISTURBANCES 60 /* a round */
#define HANG_SECONDS 120
#define PAGE 4096UL

enum end { STOP, KILL, EXIT, EXECUTE, ENDS };

/* What the process that is disturbed and the one outside share. */
struct shared {
	atomic_int stop;
	_Atomic pid_t tids[WORKERS];
	atomic_ulong batches;
};

static struct shared *shared;
static enum ferry_engine engine = FERRY_SYSCALL;
static uint64_t seed;
static unsigned long round_number;
static struct coverage *reached; /* NULL: nothing is recorded */

/* Thread I of a round. */
static void record(unsigned int i)
{
	if (reached)
		coverage_record(i);
}

/* ---- threads that run batches ---- */

static void *work(void *arg)
{
	long index = (long)arg;
	struct random random = random_for(seed, round_number * 16 + (uint64_t)index);
	static _Thread_local struct program program;

	program_open(&program);
	record((unsigned int)index);
	atomic_store(&shared->tids[index], gettid());
	while (!atomic_load(&shared->stop)) {
		long last;

		program_make(&program, &random);
		last = ferry_batch_on(engine, program.rets, program.calls, program.ncall, 0, 0);
		if (!program_check(&program, last, stdout)) {
			printf("storm: seed %" PRIu64 ", round %lu, thread %ld\n", seed,
			       round_number, index);
			fflush(stdout);
			_exit(1);
		}
		atomic_fetch_add(&shared->batches, 1);
		if (reached)
			coverage_make_room(reached, (unsigned int)index);
	}
	return NULL;
}

/* ---- a thread whose slots and results go away ---- */

static struct batch_slot *fleeting; /* two pages */
static _Thread_local sigjmp_buf after_fault;

static void on_fault(int signal)
{
	(void)signal;
	siglongjmp(after_fault, 1);
}

static void *work_on_fleeting_memory(void *arg)
{
	const unsigned long ncall = 2 * PAGE / sizeof(struct batch_slot);

	(void)arg;
	record(WORKERS);
	while (!atomic_load(&shared->stop)) {
		/* Zeroed slots read nothing from /dev/null; results may become slots as well. */
		if (!sigsetjmp(after_fault, 1))
			ferry_batch_on(engine, (long *)fleeting + 512, fleeting, ncall / 2, 0, 0);
	}
	return NULL;
}

static void *unmap_and_map(void *arg)
{
	struct random random = random_for(seed, round_number * 16 + 15);

	(void)arg;
	while (!atomic_load(&shared->stop)) {
		void *page = (char *)fleeting + PAGE * random_below(&random, 2);
		int rights = random_percent(&random, 50) ? PROT_READ | PROT_WRITE : PROT_NONE;
		void *mapped = page;

		if (random_percent(&random, 50))
			mapped = mmap(page, PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				      -1, 0);
		else
			mprotect(page, PAGE, rights);
		if (mapped != page)
			_exit(2);
		usleep(100);
	}
	return NULL;
}

/* ---- the process that is disturbed ---- */

static pthread_t start(void *(*body)(void *), long index)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, (void *)index))
		errx(2, "storm: no thread can be started");
	return thread;
}

static void end_by(enum end end)
{
	if (end == EXIT)
		_exit(0);
	if (end == EXECUTE) {
		weather_ignore();
		execl("/proc/self/exe", "storm", "--executed", NULL);
	}
}

static void disturb_from_within(struct random *random, enum end end)
{
	pid_t tids[WORKERS];
	int filters = 0, done = 0, i;

	for (i = 0; i < WORKERS; i++)
		while (!(tids[i] = atomic_load(&shared->tids[i])))
			usleep(100);
	while (!atomic_load(&shared->stop)) {
		weather_within(random, tids, WORKERS, &filters);
		if (++done == DISTURBANCES / 2)
			end_by(end);
	}
}

static void live(enum end end)
{
	struct random random = random_for(seed, round_number * 16 + 14);
	struct sigaction fault = { .sa_handler = on_fault };
	pthread_t threads[WORKERS + 2];
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	weather_prepare();
	sigaction(SIGSEGV, &fault, NULL);
	weather_enter_cgroup();
	fleeting = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < WORKERS; i++)
		threads[i] = start(work, i);
	threads[WORKERS] = start(work_on_fleeting_memory, 0);
	threads[WORKERS + 1] = start(unmap_and_map, 0);
	disturb_from_within(&random, end);
	for (i = 0; i < WORKERS + 2; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

/* ---- outside ---- */

static void print_file(const char *path)
{
	char text[2000];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (size > 0)
		printf("%s:\n%.*s\n", path, (int)size, text);
	if (fd >= 0)
		close(fd);
}

static void describe_hang(pid_t pid)
{
	static const char *const files[] = { "syscall", "stack", "status" };
	char path[100];
	size_t i;
	int k;

	for (k = 0; k < WORKERS; k++) {
		for (i = 0; i < 3; i++) {
			snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid,
				 atomic_load(&shared->tids[k]), files[i]);
			print_file(path);
		}
	}
}

static bool is_good(int status, bool may_be_killed)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	if (may_be_killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return true;
	printf("storm: seed %" PRIu64 ", round %lu ended with status %#x\n", seed, round_number,
	       (unsigned int)status);
	return false;
}

/*
 * Waits for PID as waitpid() does.  A thread that was traced at last ends only for its tracer, and
 * one that stopped after that goes on.
 */
static pid_t wait_for(pid_t pid, int *status, int options)
{
	pid_t found;

	while ((found = waitpid(-1, status, __WALL | options)) > 0) {
		if (found == pid && !WIFSTOPPED(*status))
			return pid;
		if (WIFSTOPPED(*status))
			weather_let_go(found, *status);
	}
	return found;
}

/* Whether PID has ended as expected; it has all it needs to end. */
static bool ended_well(pid_t pid, bool may_be_killed)
{
	int status, i;

	for (i = 0; i < HANG_SECONDS * 100; i++) {
		if (wait_for(pid, &status, WNOHANG) == pid)
			return is_good(status, may_be_killed);
		kill(pid, SIGCONT);
		usleep(10000);
	}
	printf("storm: seed %" PRIu64 ", round %lu hangs\n", seed, round_number);
	describe_hang(pid);
	kill(pid, SIGKILL);
	wait_for(pid, &status, 0);
	return false;
}

static bool run_round(void)
{
	struct random random = random_for(seed, round_number * 16 + 13);
	enum end end = (enum end)random_below(&random, ENDS);
	pid_t tids[WORKERS];
	pid_t pid;
	int i;

	memset(tids, 0, sizeof(tids));
	atomic_store(&shared->stop, 0);
	for (i = 0; i < WORKERS; i++)
		atomic_store(&shared->tids[i], 0);
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		err(2, "storm: fork");
	if (!pid)
		live(end);
	for (i = 0; i < WORKERS; i++)
		while (!(tids[i] = atomic_load(&shared->tids[i])))
			usleep(100);
	for (i = 0; i < DISTURBANCES; i++)
		weather_outside(&random, pid, tids, WORKERS);
	if (end == KILL)
		kill(pid, SIGKILL);
	atomic_store(&shared->stop, 1);
	return ended_well(pid, end == KILL);
}

static int usage(FILE *to, int status)
{
	fputs("usage: storm [--engine NAME] [--seed N] [--round N] [--seconds N] [--reached FILE]\n"
	      "Disturbs batches of the engine (syscall) for so many seconds (10), or in one "
	      "round.\n"
	      "With --reached, writes the addresses of the places in the kernel that KCOV has\n"
	      "recorded.\n",
	      to);
	return status;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int run(double seconds, bool one_round)
{
	double end = now() + seconds;
	unsigned long first = round_number;
	bool well = true;

	weather_make_cgroup();
	while (well && (now() < end || round_number == first)) {
		well = run_round();
		if (reached)
			coverage_take(reached);
		round_number++;
		if (one_round)
			break;
	}
	weather_remove_cgroup();
	printf("%lu rounds, %lu batches\n", round_number - first, atomic_load(&shared->batches));
	return well ? 0 : 1;
}

/* Returns NULL, or why nothing can be recorded. */
static const char *start_recording(void)
{
	reached = mmap(NULL, sizeof(*reached), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (reached == MAP_FAILED)
		err(2, "storm: memory");
	return coverage_open();
}

static void write_reached(const char *path)
{
	FILE *file = fopen(path, "we");

	if (file)
		coverage_write(reached, file);
	if (!file || fclose(file))
		err(2, "storm: %s", path);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "engine", required_argument, NULL, 'e' },
						 { "seed", required_argument, NULL, 's' },
						 { "round", required_argument, NULL, 'r' },
						 { "seconds", required_argument, NULL, 't' },
						 { "reached", required_argument, NULL, 'p' },
						 { "executed", no_argument, NULL, 'x' },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	double seconds = 10;
	bool one_round = false;
	const char *path = NULL, *why = NULL;
	int option, status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	seed = any_seed();
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'e':
			engine = ferry_engine_by_name(optarg);
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			round_number = strtoul(optarg, NULL, 0);
			one_round = true;
			break;
		case 't':
			seconds = strtod(optarg, NULL);
			break;
		case 'p':
			path = optarg;
			break;
		case 'x':
			return 0; /* what a round executes at its end */
		case 'h':
			return usage(stdout, 0);
		default:
			return usage(stderr, 2);
		}
	}
	if (optind < argc || (int)engine < 0)
		return usage(stderr, 2);
	if (ferry_engine_probe(engine, &why) || (path && (why = start_recording()))) {
		printf("skipped: %s\n", why);
		return EXIT_SKIPPED;
	}
	if (freopen("/dev/null", "re", stdin) == NULL)
		err(2, "storm: /dev/null");
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(2, "storm: memory");
	printf("seed: %" PRIu64 "\n", seed);
	status = run(seconds, one_round);
	if (path)
		write_reached(path);
	return status;
}

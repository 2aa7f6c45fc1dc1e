// SPDX-License-Identifier: MIT
/*
 * The differential tester: runs random programs on two engines from the same state and
 * compares everything.  Workers run the programs; this process watches the workers, so
 * it detects an engine that crashes or hangs like one that is wrong.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ferry.h>

#include "generate.h"
#include "model.h"
#include "random.h"
#include "shrink.h"
#include "world.h"

#define EXIT_SKIPPED 77
#define MOST_JOBS 64
#define HANG_SECONDS 20
#define ATTEMPT_SECONDS 5
#define REPORT_SIZE 16384
#define MUTANT_PROGRAMS 20000UL

struct options {
	struct runner runners[2];
	uint64_t seed;
	uint64_t first;
	uint64_t programs;
	unsigned long slots;
	unsigned int seconds; /* 0: no limit */
	unsigned int jobs;
	bool shrink;
	bool mutate;
};

/* What a worker reports. */
struct progress {
	atomic_ulong current; /* the program being run */
	atomic_ulong done;
	char report[REPORT_SIZE];
};

struct test {
	struct options options;
	char directory[PATH_MAX];
	struct progress *workers; /* shared */
	pid_t pids[MOST_JOBS];
};

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = sig;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- one program on both engines ---- */

struct pair {
	struct outcome *outcomes[2];
};

static struct pair pair_new(void)
{
	struct pair pair = { { outcome_new(), outcome_new() } };

	if (!pair.outcomes[0] || !pair.outcomes[1])
		abort();
	return pair;
}

/* The engines alternate in running first, so that neither always runs on the other's state. */
static bool differ(const struct options *options, const struct program *program, uint64_t index,
		   struct pair *pair)
{
	unsigned int first = index % 2;

	world_run(program, &options->runners[first], pair->outcomes[first]);
	world_run(program, &options->runners[!first], pair->outcomes[!first]);
	return outcomes_differ(program, pair->outcomes[0], pair->outcomes[1],
			       options->runners[0].name, options->runners[1].name, NULL);
}

/* ---- workers ---- */

static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
}

/* Prints how the outcomes of PAIR differ. */
static void report(const struct options *options, const struct program *program,
		   const struct pair *pair, struct progress *progress)
{
	FILE *out = fmemopen(progress->report, REPORT_SIZE, "w");

	outcomes_differ(program, pair->outcomes[0], pair->outcomes[1], options->runners[0].name,
			options->runners[1].name, out);
	if (out)
		fclose(out);
}

static void work(const struct test *test, unsigned int job)
{
	const struct options *options = &test->options;
	struct progress *progress = &test->workers[job];
	static struct program program;
	struct pair pair = pair_new();
	double end = now() + options->seconds;
	uint64_t i;

	die_with_parent();
	world_make(test->directory);
	for (i = job; i < options->programs; i += options->jobs) {
		uint64_t index = options->first + i;

		if (options->seconds && i % 64 == job && now() > end)
			break;
		atomic_store_explicit(&progress->current, index, memory_order_relaxed);
		generate(&program, options->seed, index, options->slots);
		/* A program may have closed what the world needs; then it is run again. */
		if (differ(options, &program, index, &pair) &&
		    (world_mend() || differ(options, &program, index, &pair))) {
			report(options, &program, &pair, progress);
			_exit(1);
		}
		atomic_fetch_add_explicit(&progress->done, 1, memory_order_relaxed);
	}
	_exit(0);
}

/* The workers share a directory; each has a subdirectory named after its job. */
static void directory_of(const struct test *test, unsigned int job, char path[])
{
	snprintf(path, PATH_MAX, "%.4000s/%u", test->directory, job);
}

static void start(struct test *test, unsigned int job)
{
	struct test own = *test;

	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): mmap() does not return NULL */
	memset(&test->workers[job], 0, sizeof(test->workers[job]));
	directory_of(test, job, own.directory);
	test->pids[job] = fork();
	if (!test->pids[job])
		work(&own, job);
	if (test->pids[job] < 0) {
		perror("differential: fork");
		exit(2);
	}
}

/* ---- failures ---- */

struct attempt {
	const struct test *test;
	uint64_t index;
	struct progress *progress;
};

/* Runs PROGRAM in a separate process.  True if the engines differ, crash or hang. */
static bool fails(const struct program *program, void *context)
{
	struct attempt *attempt = context;
	const struct options *options = &attempt->test->options;
	char directory[PATH_MAX];
	struct pair pair;
	int status;
	pid_t pid;

	if (stopped)
		return false;
	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): mmap() does not return NULL */
	memset(attempt->progress, 0, sizeof(*attempt->progress));
	pid = fork();
	if (!pid) {
		die_with_parent();
		alarm(ATTEMPT_SECONDS);
		directory_of(attempt->test, 0, directory);
		world_make(directory);
		pair = pair_new();
		if (!differ(options, program, attempt->index, &pair))
			_exit(0);
		report(options, program, &pair, attempt->progress);
		_exit(1);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		snprintf(attempt->progress->report, REPORT_SIZE, "  the process died: %s\n",
			 strsignal(WTERMSIG(status)));
	return status != 0;
}

static void explain(const struct test *test, uint64_t index, const char *what,
		    struct progress *progress)
{
	const struct options *options = &test->options;
	struct attempt attempt = { test, index, progress };
	static struct program program;

	generate(&program, options->seed, index, options->slots);
	printf("program %" PRIu64 " of seed %" PRIu64 ": %s and %s %s\n", index, options->seed,
	       options->runners[0].name, options->runners[1].name, what);
	fputs(progress->report, stdout);
	if (!fails(&program, &attempt)) {
		puts("run again alone, it does not fail");
		program_print(&program, stdout);
		return;
	}
	if (options->shrink) {
		shrink(&program, fails, &attempt);
		puts("shrunk:");
		fails(&program, &attempt);
		fputs(progress->report, stdout);
	}
	program_print(&program, stdout);
	printf("again: --engines %s,%s --seed %" PRIu64 " --first %" PRIu64
	       " --programs 1 --slots %lu\n",
	       options->runners[0].name, options->runners[1].name, options->seed, index,
	       options->slots);
}

/* ---- watching the workers ---- */

static unsigned long total_done(const struct test *test)
{
	unsigned long done = 0;
	unsigned int job;

	for (job = 0; job < test->options.jobs; job++)
		done += atomic_load(&test->workers[job].done);
	return done;
}

static void kill_workers(struct test *test)
{
	unsigned int job;

	for (job = 0; job < test->options.jobs; job++) {
		if (test->pids[job] <= 0)
			continue;
		kill(test->pids[job], SIGKILL);
		while (waitpid(test->pids[job], NULL, 0) < 0 && errno == EINTR)
			;
		test->pids[job] = 0;
	}
}

struct watch {
	unsigned long seen[MOST_JOBS];
	double since[MOST_JOBS];
};

/* A worker that takes too long for one program. */
static int hanging(const struct test *test, struct watch *watch)
{
	unsigned int job;

	for (job = 0; job < test->options.jobs; job++) {
		unsigned long done = atomic_load(&test->workers[job].done);

		if (done != watch->seen[job] || !watch->since[job]) {
			watch->seen[job] = done;
			watch->since[job] = now();
		}
		if (test->pids[job] > 0 && now() - watch->since[job] > HANG_SECONDS)
			return (int)job;
	}
	return -1;
}

static void show(const struct test *test)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%lu of %" PRIu64 " programs ", total_done(test),
			test->options.programs);
}

static void end_line(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* The job of worker PID, which ended with STATUS, or -1. */
static int job_of(struct test *test, pid_t pid)
{
	unsigned int job;

	for (job = 0; job < test->options.jobs; job++) {
		if (test->pids[job] != pid)
			continue;
		test->pids[job] = 0;
		return (int)job;
	}
	return -1;
}

/*
 * Waits until all workers are done.  Returns the job of the first that failed, with
 * WHAT set, or -1.
 */
static int watch_workers(struct test *test, const char **what)
{
	const struct timespec second = { 1, 0 };
	struct watch watch = { .seen = { 0 } };
	unsigned int left = test->options.jobs;
	sigset_t children;
	int status;
	pid_t pid;
	int job;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	while (left && !stopped) {
		sigtimedwait(&children, NULL, &second);
		show(test);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			job = job_of(test, pid);
			left--;
			if (!status)
				continue;
			*what = WIFSIGNALED(status)	 ? strsignal(WTERMSIG(status)) :
				WEXITSTATUS(status) == 1 ? "differ" :
							   "could not run";
			return job;
		}
		job = hanging(test, &watch);
		*what = "hang";
		if (job >= 0)
			return job;
	}
	return -1;
}

/* ---- runs ---- */

static void make_directories(struct test *test)
{
	const char *parent = getenv("TMPDIR");
	char path[PATH_MAX];
	unsigned int job;

	snprintf(test->directory, sizeof(test->directory), "%.4000s/differential.XXXXXX",
		 parent ? parent : "/tmp");
	if (!mkdtemp(test->directory)) {
		fprintf(stderr, "differential: %s: %s; set TMPDIR\n", test->directory,
			strerror(errno));
		exit(2);
	}
	for (job = 0; job < test->options.jobs; job++) {
		directory_of(test, job, path);
		if (mkdir(path, 0700)) {
			perror(path);
			exit(2);
		}
	}
}

static void remove_directories(const struct test *test)
{
	char path[PATH_MAX];
	char name[PATH_MAX + 16];
	unsigned int job;
	int i;

	for (job = 0; job < test->options.jobs; job++) {
		directory_of(test, job, path);
		for (i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), "%s/file%d", path, i);
			unlink(name);
		}
		rmdir(path);
	}
	rmdir(test->directory);
}

/* The job that found a failure, or -1; its progress is in test->workers. */
static int run(struct test *test, const char **what)
{
	unsigned int job;
	int failed;

	for (job = 0; job < test->options.jobs; job++)
		start(test, job);
	failed = watch_workers(test, what);
	kill_workers(test);
	end_line();
	return failed;
}

static int compare_engines(struct test *test)
{
	const char *what;
	double began = now();
	int failed = run(test, &what);

	if (stopped)
		return 128 + stopped;
	if (failed >= 0) {
		struct progress *progress = &test->workers[failed];

		explain(test, atomic_load(&progress->current), what, progress);
		return 1;
	}
	printf("%lu programs, no difference between %s and %s (%.0f a second)\n", total_done(test),
	       test->options.runners[0].name, test->options.runners[1].name,
	       (double)total_done(test) / (now() - began));
	return 0;
}

/* Tests the tester: it must find each bug of the model. */
static int find_bugs(struct test *test)
{
	const char *what;
	int missed = 0;
	int failed;
	int bug;

	test->options.runners[0] = (struct runner){ "model", -1, NO_BUG };
	test->options.programs = MUTANT_PROGRAMS;
	for (bug = NO_BUG + 1; bug < BUGS && !stopped; bug++) {
		test->options.runners[1] = (struct runner){ bug_name(bug), -1, bug };
		failed = run(test, &what);
		missed += failed < 0;
		if (failed < 0)
			printf("%s: NOT found in %lu programs\n", bug_name(bug), MUTANT_PROGRAMS);
		else
			printf("%s: found by program %lu\n", bug_name(bug),
			       atomic_load(&test->workers[failed].current));
	}
	return stopped ? 128 + stopped : missed != 0;
}

/* ---- options ---- */

static const char usage_text[] =
	"usage: differential --engines NAME,NAME [options]\n"
	"       differential --mutate [options]\n"
	"Runs random programs on two engines, or on one and on 'model', a second reading of\n"
	"the contract, and compares results, memory, files and descriptors.\n"
	"  --programs N   how many (100000)\n"
	"  --seconds S    or for how long\n"
	"  --seed S       which (random, and printed)\n"
	"  --first I      beginning with program I of the seed (0)\n"
	"  --slots MAX    of up to so many slots, 1 .. 512 (256)\n"
	"  --jobs J       in so many processes (1)\n"
	"  --no-shrink    prints a failing program as it was\n"
	"  --mutate       finds the model's own bugs, to prove that the tester can\n";

static void refuse(const char *what, const char *value, const char *wanted)
{
	fprintf(stderr, "differential: %s '%s': %s is wanted\n", what, value, wanted);
	exit(2);
}

static uint64_t number(const char *what, const char *text, uint64_t least, uint64_t most)
{
	char wanted[80];
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || !*text || *text == '-' || value < least || value > most) {
		snprintf(wanted, sizeof(wanted), "a number from %" PRIu64 " to %" PRIu64, least,
			 most);
		refuse(what, text, wanted);
	}
	return value;
}

static struct runner runner_named(const char *name)
{
	struct runner runner = { name, ferry_engine_by_name(name), NO_BUG };
	const char *why;

	if (!strcmp(name, "model"))
		return (struct runner){ name, -1, NO_BUG };
	if (runner.engine < 0)
		refuse("engine", name, "model, auto, loop, device or syscall");
	if (ferry_engine_probe(runner.engine, &why)) {
		printf("engine %s skipped: %s\n", name, why);
		exit(EXIT_SKIPPED);
	}
	return runner;
}

static void set_engines(struct options *options, char *names)
{
	char *comma = strchr(names, ',');

	if (!comma || strchr(comma + 1, ','))
		refuse("--engines", names, "two names with a comma between");
	*comma = '\0';
	options->runners[0] = runner_named(names);
	options->runners[1] = runner_named(comma + 1);
}

static void parse(struct options *options, int argc, char **argv)
{
	enum {
		ENGINES,
		PROGRAMS,
		SECONDS,
		SEED,
		FIRST,
		SLOTS,
		JOBS,
		SHRINK,
		NO_SHRINK,
		MUTATE,
		HELP
	};
	static const struct option known[] = {
		{ "engines", 1, NULL, ENGINES },     { "programs", 1, NULL, PROGRAMS },
		{ "seconds", 1, NULL, SECONDS },     { "seed", 1, NULL, SEED },
		{ "first", 1, NULL, FIRST },	     { "slots", 1, NULL, SLOTS },
		{ "jobs", 1, NULL, JOBS },	     { "shrink", 0, NULL, SHRINK },
		{ "no-shrink", 0, NULL, NO_SHRINK }, { "mutate", 0, NULL, MUTATE },
		{ "help", 0, NULL, HELP },	     { 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case ENGINES:
			set_engines(options, optarg);
			break;
		case PROGRAMS:
			options->programs = number("--programs", optarg, 1, UINT32_MAX);
			break;
		case SECONDS:
			options->seconds = (unsigned int)number("--seconds", optarg, 1, 1000000);
			break;
		case SEED:
			options->seed = number("--seed", optarg, 0, UINT64_MAX);
			break;
		case FIRST:
			options->first = number("--first", optarg, 0, UINT32_MAX);
			break;
		case SLOTS:
			options->slots = number("--slots", optarg, 1, MAX_SLOTS);
			break;
		case JOBS:
			options->jobs = (unsigned int)number("--jobs", optarg, 1, MOST_JOBS);
			break;
		case SHRINK:
		case NO_SHRINK:
			options->shrink = option == SHRINK;
			break;
		case MUTATE:
			options->mutate = true;
			break;
		case HELP:
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs(usage_text, stderr);
			exit(2);
		}
	}
	if (optind < argc || (!options->mutate && !options->runners[0].name)) {
		fputs(usage_text, stderr);
		exit(2);
	}
}

/* Blocked to wait for SIGCHLD.  SIGINT and the like, or SIGPIPE, end the run, which cleans up. */
static void prepare_signals(void)
{
	struct sigaction action = { .sa_handler = stop };
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGPIPE, &action, NULL);
}

int main(int argc, char **argv)
{
	static struct test test = {
		.options = { .programs = 100000, .slots = 256, .jobs = 1, .shrink = true },
	};
	int status;

	test.options.seed = any_seed();
	parse(&test.options, argc, argv);
	printf("seed %" PRIu64 "\n", test.options.seed);
	fflush(stdout);
	test.workers = mmap(NULL, MOST_JOBS * sizeof(struct progress), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (test.workers == MAP_FAILED) {
		perror("differential: shared memory");
		return 2;
	}
	prepare_signals();
	make_directories(&test);
	status = test.options.mutate ? find_bugs(&test) : compare_engines(&test);
	remove_directories(&test);
	return status;
}

// SPDX-License-Identifier: MIT
/*
 * Fuzzes the series by coverage: runs random programs, keeps those that reach a place of the
 * kernel which none before has reached, and makes more by changing these.  Each program is
 * compared with what calls one by one do.  A worker runs the programs of a subject for some
 * seconds, then another those of the next subject; this process watches it, so a kernel that
 * crashes or hangs a program is noticed like one that is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ferry.h>

#include "line.h"
#include "subject.h"

#define EXIT_SKIPPED 77
#define MOST_LINES 20000
#define TURN_SECONDS 10.0 /* of a subject */
#define HANG_SECONDS 150  /* of a program; emulated processors are slow */
#define LATEST 32	  /* lines that are changed as often as all others together */

/* Where no program has descriptors, and the world of batches closes none. */
#define DESCRIPTORS 16384
#define WHY_FD 16200

const struct subject *const subjects[] = { &batches, &arguments, &sets, &pages, &storms, NULL };

struct entry {
	struct line line;
	uint64_t words; /* that its program took */
	bool is_kept;	/* it reached a place before all others */
};

/* What the processes share. */
struct shared {
	struct coverage all;
	struct coverage again; /* what the kept lines reach, for finding those that add nothing */
	struct entry entries[MOST_LINES];
	unsigned int count;
	struct line current;
	uint64_t words;
	int may_die; /* the signal that may end the current program, or 0 */
	atomic_ulong programs;
};

enum task { REPLAY, FUZZ, REDUCE };

struct options {
	const char *keep, *reached;
	const struct subject *only;
	uint64_t seed;
	double seconds;
};

static struct shared *shared;
static FILE *why; /* of a program that fails */
static char directory[PATH_MAX];
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void subject_may_die(int signal)
{
	shared->may_die = signal;
}

/* ---- in a worker ---- */

static bool run_in_child(const struct subject *subject, struct random random)
{
	int status;
	pid_t pid;

	shared->may_die = 0;
	pid = fork();
	if (pid < 0) {
		perror("fuzz: fork");
		_exit(2);
	}
	if (!pid) {
		bool right;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(HANG_SECONDS / 2);
		coverage_record(0);
		right = subject->run(&random, why);
		shared->words = random.drawn;
		fflush(why);
		_exit(!right);
	}
	if (waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status) && WTERMSIG(status) == shared->may_die)
		return true;
	if (WIFSIGNALED(status))
		fprintf(why, "the process died: %s\n", strsignal(WTERMSIG(status)));
	return !status;
}

/* Runs LINE; what it reaches is added to ALL.  Ends the worker if it fails. */
static struct news run_line(const struct subject *subject, const struct line *line,
			    struct coverage *all)
{
	struct random random = line_random(line);
	bool right;

	shared->current = *line;
	coverage_drop();
	if (subject->forks) {
		right = run_in_child(subject, random);
	} else {
		right = subject->run(&random, why);
		shared->words = random.drawn;
	}
	if (!right) {
		fflush(why);
		_exit(1);
	}
	atomic_fetch_add(&shared->programs, 1);
	return subject->take ? subject->take(all) : coverage_take(all);
}

static bool is_of(const struct entry *entry, const struct subject *subject)
{
	return subjects[entry->line.subject] == subject;
}

/* Which lines add a place, in their order. */
static void replay(const struct subject *subject)
{
	unsigned int i;

	for (i = 0; i < shared->count; i++) {
		struct entry *entry = &shared->entries[i];

		if (!is_of(entry, subject))
			continue;
		entry->is_kept = run_line(subject, &entry->line, &shared->all).places;
		entry->words = shared->words;
	}
}

/* The same for kept lines, the latest first: they often reach what led to them, too. */
static void reduce(const struct subject *subject)
{
	unsigned int i;

	for (i = shared->count; i--;) {
		struct entry *entry = &shared->entries[i];

		if (entry->is_kept && is_of(entry, subject))
			entry->is_kept = run_line(subject, &entry->line, &shared->again).places;
	}
}

/* Indexes of the entries of one subject. */
struct choice {
	unsigned int entries[MOST_LINES];
	unsigned int count;
};

static struct line next_line(const struct choice *mine, unsigned int subject, struct random *random)
{
	struct line line = { .subject = subject, .seed = random_word(random) & UINT32_MAX };
	unsigned int among = mine->count, first = 0, times;
	const struct entry *entry;

	/* A line of another program is its seed. */
	if (!mine->count || subjects[subject]->take || random_percent(random, 20))
		return line;
	if (among > LATEST && random_percent(random, 50)) {
		first = among - LATEST;
		among = LATEST;
	}
	entry = &shared->entries[mine->entries[first + random_below(random, among)]];
	line = entry->line;
	for (times = 1 + (unsigned int)random_below(random, 3); times; times--)
		line_mutate(&line, entry->words, random);
	return line;
}

static void fuzz(unsigned int subject, struct random random, double end)
{
	static struct choice mine;
	unsigned int i;

	for (i = 0; i < shared->count; i++)
		if (shared->entries[i].line.subject == subject)
			mine.entries[mine.count++] = i;
	while (now() < end) {
		struct line line = next_line(&mine, subject, &random);
		struct news news = run_line(subjects[subject], &line, &shared->all);

		if ((!news.places && !news.edges) || shared->count == MOST_LINES)
			continue;
		mine.entries[mine.count++] = shared->count;
		shared->entries[shared->count++] =
			(struct entry){ line, shared->words, news.places != 0 };
	}
}

static void work(enum task task, unsigned int subject, struct random random, double end)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	subjects[subject]->begin(directory);
	if (task == REPLAY)
		replay(subjects[subject]);
	else if (task == REDUCE)
		reduce(subjects[subject]);
	else
		fuzz(subject, random, end);
	_exit(0);
}

/* ---- watching it ---- */

static void print_why(void)
{
	char line[1024];

	fseek(why, 0, SEEK_SET);
	while (fgets(line, sizeof(line), why))
		fputs(line, stdout);
}

static void report(const char *what)
{
	printf("%s: ", what);
	line_print(&shared->current, stdout);
	putchar('\n');
	print_why();
	printf("again: --run '");
	line_print(&shared->current, stdout);
	puts("'");
}

/* Waits for the worker PID.  True if it did well; says what failed otherwise. */
static bool watch(pid_t pid)
{
	unsigned long done = atomic_load(&shared->programs);
	double since = now();
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		bool hangs = now() - since > HANG_SECONDS;

		usleep(20000);
		if (atomic_load(&shared->programs) != done) {
			done = atomic_load(&shared->programs);
			since = now();
		}
		if (!stopped && !hangs)
			continue;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		if (hangs)
			report("hangs");
		return !hangs;
	}
	if (!status)
		return true;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		exit(2); /* it has said what it lacks */
	report(WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "fails");
	return false;
}

static bool start(enum task task, unsigned int subject, struct random random, double end)
{
	pid_t pid;

	if (stopped)
		return true;
	fflush(NULL);
	if (fseek(why, 0, SEEK_SET) || ftruncate(fileno(why), 0)) {
		perror("fuzz: memory");
		exit(2);
	}
	pid = fork();
	if (pid < 0) {
		perror("fuzz: fork");
		exit(2);
	}
	if (!pid)
		work(task, subject, random, end);
	return watch(pid);
}

static bool start_all(const struct options *options, enum task task, struct random random,
		      double end)
{
	unsigned int i;

	for (i = 0; subjects[i]; i++) {
		double turn = now() + TURN_SECONDS;

		if (options->only && subjects[i] != options->only)
			continue;
		random.state += i;
		if (!start(task, i, random, turn < end ? turn : end))
			return false;
	}
	return true;
}

static bool run(const struct options *options)
{
	double end;
	uint64_t turn;

	if (!start_all(options, REPLAY, random_for(options->seed, 0), 0))
		return false;
	end = now() + options->seconds;
	for (turn = 1; !stopped && now() < end; turn++)
		if (!start_all(options, FUZZ, random_for(options->seed, turn), end))
			return false;
	return true;
}

/* ---- results ---- */

static void temporary_of(const char *path, char temporary[])
{
	snprintf(temporary, PATH_MAX, "%.4000s.new", path);
}

static void fail_on(const char *path)
{
	fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
	exit(2);
}

/* Before a run of hours, whose results would have no place. */
static void check_place(const char *path)
{
	char temporary[PATH_MAX];
	FILE *file;

	if (!path || !strcmp(path, "-"))
		return;
	temporary_of(path, temporary);
	file = fopen(temporary, "we");
	if (!file || fclose(file))
		fail_on(temporary);
}

/* A file that is whole or not there. */
static void write_file(const char *path, void (*print)(FILE *))
{
	char temporary[PATH_MAX];
	FILE *file;

	if (!strcmp(path, "-")) {
		print(stdout);
		return;
	}
	temporary_of(path, temporary);
	file = fopen(temporary, "we");
	if (file)
		print(file);
	if (!file || fclose(file) || rename(temporary, path))
		fail_on(temporary);
}

static void print_kept(FILE *file)
{
	unsigned int i;

	fputs("# SPDX-License-Identifier: MIT\n"
	      "# Programs that together reach all places known to be reached; fuzz --keep wrote "
	      "this.\n",
	      file);
	for (i = 0; i < shared->count; i++) {
		if (shared->entries[i].is_kept) {
			line_print(&shared->entries[i].line, file);
			fputc('\n', file);
		}
	}
}

static void print_reached(FILE *file)
{
	coverage_write(&shared->all, file);
}

static unsigned int count_kept(void)
{
	unsigned int kept = 0, i;

	for (i = 0; i < shared->count; i++)
		kept += shared->entries[i].is_kept;
	return kept;
}

static void print_results(const struct options *options)
{
	printf("%lu programs reached %lu places and %lu edges; %u of %u lines reached a place "
	       "before the others\n",
	       atomic_load(&shared->programs), atomic_load(&shared->all.count),
	       atomic_load(&shared->all.edge_count), count_kept(), shared->count);
	if (options->reached)
		write_file(options->reached, print_reached);
}

static int run_and_keep(const struct options *options)
{
	bool right = run(options);

	print_results(options);
	if (options->keep && right)
		right = start_all(options, REDUCE, random_for(options->seed, 0), 0);
	if (options->keep)
		write_file(options->keep, print_kept);
	return !right ? 1 : stopped ? 128 + stopped : 0;
}

/* ---- options ---- */

static const char usage_text[] =
	"usage: fuzz [options]\n"
	"Runs random programs of system calls, keeps those that reach new places in the kernel,\n"
	"and compares each with what calls one by one do.  A kernel without KCOV records nothing:\n"
	"there, it only runs and compares the programs that are named.\n"
	"  --corpus FILE   first runs the programs that its lines name\n"
	"  --run LINE      and this one\n"
	"  --seconds S     then makes new ones for so long (0)\n"
	"  --seed S        which (random, and printed)\n"
	"  --only SUBJECT  batches, arguments, sets, pages or storms; all take turns otherwise\n"
	"  --keep FILE     writes the lines there that together reach all places; - prints them\n"
	"  --reached FILE  writes the addresses of the places there\n";

static void add_line(const char *text, const char *file, unsigned int number)
{
	struct line line;
	const char *lacks = line_parse(&line, text);

	if (!lacks && shared->count == MOST_LINES)
		lacks = "there are too many lines";
	if (lacks) {
		fprintf(stderr, "fuzz: %s:%u: '%s': %s\n", file, number, text, lacks);
		exit(2);
	}
	shared->entries[shared->count++] = (struct entry){ .line = line };
}

static void read_corpus(const char *path)
{
	char text[LINE_SIZE];
	unsigned int number = 0;
	FILE *file = fopen(path, "re");

	while (file && fgets(text, sizeof(text), file)) {
		number++;
		text[strcspn(text, "\n")] = '\0';
		if (*text && *text != '#')
			add_line(text, path, number);
	}
	if (!file || ferror(file))
		fail_on(path);
	fclose(file);
}

static const struct subject *subject_named(const char *name)
{
	unsigned int i;

	for (i = 0; subjects[i]; i++)
		if (!strcmp(subjects[i]->name, name))
			return subjects[i];
	fprintf(stderr, "fuzz: --only '%s': a subject is wanted, see --help\n", name);
	exit(2);
}

static uint64_t number(const char *what, const char *text, uint64_t most)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!errno && !*end && *text >= '0' && *text <= '9' && value <= most)
		return value;
	fprintf(stderr, "fuzz: %s '%s': a number up to %" PRIu64 " is wanted\n", what, text, most);
	exit(2);
}

static void parse(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{ "corpus", required_argument, NULL, 'c' },
		{ "run", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "only", required_argument, NULL, 'o' },
		{ "keep", required_argument, NULL, 'k' },
		{ "reached", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case 'c':
			read_corpus(optarg);
			break;
		case 'r':
			add_line(optarg, "--run", 1);
			break;
		case 't':
			options->seconds = (double)number("--seconds", optarg, 1000000);
			break;
		case 's':
			options->seed = number("--seed", optarg, UINT64_MAX);
			break;
		case 'o':
			options->only = subject_named(optarg);
			break;
		case 'k':
			options->keep = optarg;
			break;
		case 'p':
			options->reached = optarg;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs(usage_text, stderr);
			exit(2);
		}
	}
	if (optind == argc)
		return;
	fputs(usage_text, stderr);
	exit(2);
}

/* ---- what surrounds a run ---- */

static void prepare(void)
{
	const struct rlimit files = { DESCRIPTORS, DESCRIPTORS };
	struct sigaction action = { .sa_handler = stop };
	const char *parent = getenv("TMPDIR");
	int fd = memfd_create("why", MFD_CLOEXEC);

	snprintf(directory, sizeof(directory), "%.4000s/fuzz.XXXXXX", parent ? parent : "/tmp");
	if (setrlimit(RLIMIT_NOFILE, &files) ||
	    !(why = fdopen(fcntl(fd, F_DUPFD_CLOEXEC, WHY_FD), "w+")) || !mkdtemp(directory)) {
		fprintf(stderr, "fuzz: 16384 descriptors, or %s: %s\n", directory, strerror(errno));
		exit(2);
	}
	close(fd);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void remove_directory(void)
{
	static const char *const names[] = { "file0", "file1", "file2", "file3", "reached" };
	char path[PATH_MAX + 16];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		unlink(path);
	}
	rmdir(directory);
}

static int skip(const char *reason)
{
	printf("skipped: %s\n", reason);
	return EXIT_SKIPPED;
}

int main(int argc, char **argv)
{
	struct options options = { 0 };
	const char *reason;
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED) {
		perror("fuzz: shared memory");
		return 2;
	}
	options.seed = any_seed();
	parse(&options, argc, argv);
	if (ferry_engine_probe(FERRY_SYSCALL, &reason))
		return skip(reason);
	reason = coverage_open();
	if (reason && (options.seconds > 0 || options.keep || options.reached))
		return skip(reason);
	if (reason)
		printf("nothing is recorded: %s\n", reason);
	printf("seed %" PRIu64 "\n", options.seed);
	check_place(options.keep);
	check_place(options.reached);
	prepare();
	status = run_and_keep(&options);
	remove_directory();
	return status;
}

// SPDX-License-Identifier: MIT
/*
 * Fuzzes the series by coverage: runs random programs, keeps those that reach a place of the
 * kernel which none before has reached, and makes more by changing these.  Each program is
 * compared with what calls one by one do.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ferry.h>

#include "campaign.h"

#define EXIT_SKIPPED 77

/* Where no program has descriptors, and the world of batches closes none. */
#define DESCRIPTORS 16384
#define WHY_FD 16200

const struct subject *const subjects[] = { &batches, &arguments, &sets, &pages, &storms, NULL };

struct shared *shared;
FILE *why;
char directory[PATH_MAX];
volatile sig_atomic_t stopped;

static void stop(int signal)
{
	stopped = signal;
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
		write_reached(options->reached);
}

static int run_and_keep(const struct options *options)
{
	bool right = run_campaign(options);

	print_results(options);
	if (options->keep && right)
		right = reduce_entries(options);
	if (options->keep)
		write_kept(options->keep);
	return !right ? 1 : stopped ? 128 + stopped : 0;
}

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

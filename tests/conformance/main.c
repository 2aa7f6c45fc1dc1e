// SPDX-License-Identifier: MIT
/*
 * The conformance suite: what batch(2) promises, asked of every engine named on the
 * command line, or of all of them.  Exits 77 when no engine named is there.
 */
#include "groups.h"
#include "suite.h"

#define EXIT_SKIPPED 77

static const struct {
	const char *name;
	const struct group *group;
} groups[] = {
	{ "jumps", &jumps_group },
	{ "numbers", &numbers_group },
	{ "arguments", &arguments_group },
	{ "forwarding", &forwarding_group },
	{ "wordcopy", &wordcopy_group },
	{ "selfmodify", &selfmodify_group },
	{ "memory", &memory_group },
	{ "files", &files_group },
	{ "runs", &runs_group },
	{ "sockets", &sockets_group },
	{ "descriptors", &descriptors_group },
	{ "signals", &signals_group },
	{ "processes", &processes_group },
	{ "threads", &threads_group },
	{ "seccomp", &seccomp_group },
	{ "credentials", &credentials_group },
	{ "tracing", &tracing_group },
};

static void call_test(void *arg)
{
	const struct CMUnitTest *test = arg;
	void *state = NULL;

	test->test_func(&state);
}

/* The test *STATE in a child: dangers stay there, and no engine remembers the test before. */
static void run_in_child(void **state)
{
	int status = in_child(call_test, *state);

	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SKIPPED)
		skip();
	if (WIFSIGNALED(status))
		fail_msg("signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		fail_msg("see above");
}

/* Every test of every group, named "ENGINE: GROUP: TEST"; FILTER, if any, is part of the name. */
static struct CMUnitTest *named_tests(const char *filter, size_t *count)
{
	struct CMUnitTest *tests = NULL;
	char *name;
	size_t g;
	size_t i;

	*count = 0;
	for (g = 0; g < ARRAY_SIZE(groups); g++) {
		for (i = 0; i < groups[g].group->count; i++) {
			const struct CMUnitTest *own = &groups[g].group->tests[i];

			if (asprintf(&name, "%s: %s: %s", way->name, groups[g].name, own->name) < 0)
				abort();
			if (filter && !strstr(name, filter)) {
				free(name);
				continue;
			}
			tests = reallocarray(tests, *count + 1, sizeof(*tests));
			if (!tests)
				abort();
			tests[(*count)++] = (struct CMUnitTest){
				.name = name,
				.test_func = run_in_child,
				.initial_state = (void *)own,
			};
		}
	}
	return tests;
}

/* The number of tests that failed on the engine NAME, or -1 when it is not there. */
static int run_on(const char *name, const char *filter)
{
	struct CMUnitTest *tests;
	const char *why;
	size_t count;
	int failed;

	way = way_by_name(name);
	if (way->probe(&why)) {
		printf("engine %s skipped: %s\n", name, why);
		return -1;
	}
	tests = named_tests(filter, &count);
	failed = _cmocka_run_group_tests(name, tests, count, NULL, NULL);
	while (count)
		free((char *)tests[--count].name);
	free(tests);
	return failed;
}

static int usage(FILE *to, int status)
{
	size_t i;

	fputs("usage: conformance [--only TEXT] [ENGINE...]\n"
	      "Runs the conformance tests (those whose name holds TEXT) on each ENGINE:",
	      to);
	for (i = 0; way_name(i); i++)
		fprintf(to, " %s", way_name(i));
	fputs("; on all without one.\n", to);
	return status;
}

/* Fails with a message unless every one of NAMES, ended by NULL, is a way. */
static bool all_known(char **names)
{
	for (; *names; names++) {
		if (way_by_name(*names))
			continue;
		fprintf(stderr, "conformance: there is no engine called '%s'\n", *names);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	const char *filter = NULL;
	const char *name;
	bool skipped = true;
	bool failed = false;
	int result;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "--help"))
		return usage(stdout, 0);
	argv++;
	if (argc > 2 && !strcmp(argv[0], "--only")) {
		filter = argv[1];
		argv += 2;
	}
	if (!all_known(argv))
		return usage(stderr, 2);
	for (i = 0; (name = *argv ? argv[i] : way_name(i)); i++) {
		result = run_on(name, filter);
		skipped &= result < 0;
		failed |= result > 0;
	}
	return failed ? 1 : skipped ? EXIT_SKIPPED : 0;
}

// SPDX-License-Identifier: MIT
/*
 * The conformance suite: checks that every engine named on the command line, or all of
 * them, does what batch(2) promises.  Exits with 77 if none of them is available.
 */
#include "contract/suite.h"
#include "contract/suite.h"
#include "run.h"

#define EXIT_SKIPPED 77

/* The number of tests that failed on engine NAME, or -1 if it is not available. */
static int run_on(const char *name, const char *filter)
{
	const char *why;

	way = way_by_name(name);
	if (way_probe(&why)) {
		printf("engine %s skipped: %s\n", name, why);
		return -1;
	}
	return tests_run(name, filter);
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

/* Fails with a message unless each of NAMES, a NULL-terminated list, is a way. */
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

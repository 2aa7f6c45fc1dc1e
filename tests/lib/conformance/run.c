// SPDX-License-Identifier: MIT
/* Runs the tests of a program by cmocka; see run.h. */
#include "contract/suite.h"
#include "run.h"

#include <cmocka.h>

static void run_one(void **state)
{
	int status = test_status(*state);

	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SKIPPED)
		skip();
	if (WIFSIGNALED(status))
		fail_msg("signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		fail_msg("see above");
}

static char *full_name(const char *title, const struct test *test)
{
	const char *file = strrchr(test->file, '/');
	char *name;

	file = file ? file + 1 : test->file;
	if (asprintf(&name, "%s: %.*s: %s", title, (int)strcspn(file, "."), file, test->name) < 0)
		abort();
	return name;
}

int tests_run(const char *title, const char *filter)
{
	struct CMUnitTest *tests = NULL;
	const struct test *test;
	size_t count = 0;
	int failed;

	for (test = test_first(); test; test = test->next) {
		char *name = full_name(title, test);

		if (filter && !strstr(name, filter)) {
			free(name);
			continue;
		}
		tests = reallocarray(tests, count + 1, sizeof(*tests));
		if (!tests)
			abort();
		tests[count++] = (struct CMUnitTest){
			.name = name,
			.test_func = run_one,
			.initial_state = (void *)test,
		};
	}
	failed = _cmocka_run_group_tests(title, tests, count, NULL, NULL);
	while (count)
		free((char *)tests[--count].name);
	free(tests);
	return failed;
}

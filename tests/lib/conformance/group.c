// SPDX-License-Identifier: MIT
/* Runs groups of tests; see group.h. */
#include "group.h"

static void call_test(void *arg)
{
	const struct CMUnitTest *test = arg;
	void *state = NULL;

	test->test_func(&state);
}

/* Runs test *STATE in a child, so that crashes stay there and engines keep no state. */
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

/* All tests of all groups, by their full names; those without FILTER in it are left out. */
static struct CMUnitTest *named_tests(const char *title, const struct named_group groups[],
				      size_t ngroups, const char *filter, size_t *count)
{
	struct CMUnitTest *tests = NULL;
	char *name;
	size_t g;
	size_t i;

	*count = 0;
	for (g = 0; g < ngroups; g++) {
		for (i = 0; i < groups[g].group->count; i++) {
			const struct CMUnitTest *own = &groups[g].group->tests[i];

			if (asprintf(&name, "%s: %s: %s", title, groups[g].name, own->name) < 0)
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

int groups_run(const char *title, const struct named_group groups[], size_t ngroups,
	       const char *filter)
{
	struct CMUnitTest *tests;
	size_t count;
	int failed;

	tests = named_tests(title, groups, ngroups, filter, &count);
	failed = _cmocka_run_group_tests(title, tests, count, NULL, NULL);
	while (count)
		free((char *)tests[--count].name);
	free(tests);
	return failed;
}

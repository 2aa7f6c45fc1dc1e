// SPDX-License-Identifier: MIT
/* Runs the tests of a program without cmocka, where that is not built for the machine; see run.h.
 */
#include "contract/suite.h"
#include "run.h"

int tests_run(const char *title, const char *filter)
{
	const struct test *test;
	int count = 0;
	int failed = 0;

	for (test = test_first(); test; test = test->next) {
		int status;
		bool skipped;

		if (filter && !strstr(test->name, filter))
			continue;
		status = test_status(test);
		skipped = WIFEXITED(status) && WEXITSTATUS(status) == CHILD_SKIPPED;
		failed += status && !skipped;
		printf("%sok %d - %s: %s%s\n", status && !skipped ? "not " : "", ++count, title,
		       test->name, skipped ? " # SKIP" : "");
	}
	printf("1..%d\n", count);
	return failed;
}

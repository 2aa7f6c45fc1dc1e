// SPDX-License-Identifier: MIT
/*
 * Tests of the ferry module's device, and of the library's engine on it.  Meant for a guest
 * whose console is watched.  Exits with 77 if there is no device.
 */
#include "device.h"
#include "tests/lib/conformance/run.h"

#define EXIT_SKIPPED 77

volatile sig_atomic_t signals_seen;

void expect_library_runs(void)
{
	const struct batch_slot calls[] = { SLOT(SYS_getpid), SLOT(SYS_getppid) };
	long rets[2] = { UNTOUCHED, UNTOUCHED };

	expect_equal(ferry_batch_on(FERRY_DEVICE, rets, calls, 2, 0, 0), 1);
	expect_equal(rets[0], getpid());
	expect_equal(rets[1], getppid());
}

static void count_one(int sig)
{
	(void)sig;
	signals_seen++;
}

void count_signals(void)
{
	const struct sigaction action = { .sa_handler = count_one };

	expect(!sigaction(SIGUSR1, &action, NULL));
}

int main(int argc, char **argv)
{
	const char *why;

	if (argc == 3 && !strcmp(argv[1], "--use")) {
		expect_device_runs(atoi(argv[2]));
		return 0;
	}
	if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
		fputs("usage: module_tests [TEXT]\n"
		      "Runs the tests of /dev/ferry, or those whose name holds TEXT.\n",
		      stderr);
		return 2;
	}
	if (ferry_engine_probe(FERRY_DEVICE, &why)) {
		printf("skipped: %s\n", why);
		return EXIT_SKIPPED;
	}
	return tests_run("device", argv[1]) ? 1 : 0;
}

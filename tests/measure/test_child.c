// SPDX-License-Identifier: MIT
/* Waiting for a child ends with a signal, whenever that comes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure/harness/process.h"
#include "measure/harness/interrupt.h"

#define FOREVER 60 /* s */

static pid_t sleeping_child(void)
{
	pid_t child = fork();

	if (child)
		return child;
	signal(SIGTERM, SIG_DFL);
	alarm(FOREVER);
	pause();
	_exit(0);
}

static void test_before_the_wait(void **state)
{
	pid_t child = sleeping_child();
	int status;

	(void)state;
	interrupt_catch(SA_RESETHAND);
	raise(SIGTERM);
	status = wait_for_child(child, SIGKILL);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void test_during_the_wait(void **state)
{
	pid_t parent = getpid(), sender, child;
	int status;

	(void)state;
	interrupt_catch(SA_RESETHAND);
	child = sleeping_child();
	sender = fork();
	if (!sender) {
		usleep(50000);
		_exit(kill(parent, SIGTERM));
	}
	status = wait_for_child(child, SIGKILL);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(waitpid(sender, &status, 0), sender);
	assert_int_equal(status, 0);
}

/* In the order in which they may run: after one, this process remembers that it was interrupted. */
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_during_the_wait),
		cmocka_unit_test(test_before_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* Shared by the hostile tests; see hostile.h. */
#include "hostile.h"

void *new_page(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	expect(page != MAP_FAILED);
	return page;
}

void expect_asleep(pid_t pid)
{
	char state;
	int i;

	for (i = 0; (state = state_of(pid)) != 'S' && state != 'D' && i < 30000; i++)
		usleep(1000);
	expect(state == 'S' || state == 'D');
}

void expect_killed_by(pid_t pid, int sig)
{
	int status;

	expect_equal(waitpid(pid, &status, 0), pid);
	if (!WIFSIGNALED(status))
		suite_fail(__FILE__, __LINE__, "the child exited with status %d",
			   WEXITSTATUS(status));
	expect_equal(WTERMSIG(status), sig);
}

pthread_t thread_start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	expect(!pthread_create(&thread, NULL, body, arg));
	return thread;
}

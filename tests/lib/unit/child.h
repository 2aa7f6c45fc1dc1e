/* SPDX-License-Identifier: MIT */
/* Runs tests whose state (environment, seccomp filters) must not outlive them in a child. */
#ifndef CHILD_H
#define CHILD_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a child, cmocka's assertions would continue with the parent's tests; these end it. */
#define CHILD_ASSERT(condition)                                                             \
	do {                                                                                \
		if (!(condition)) {                                                         \
			dprintf(STDOUT_FILENO, "%s:%d: not true: %s\n", __FILE__, __LINE__, \
				#condition);                                                \
			_exit(1);                                                           \
		}                                                                           \
	} while (0)

/* The status of a child that ran BODY: 0 if BODY returned. */
static inline int child_status(void (*body)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		body();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return status;
}

#define ASSERT_IN_CHILD(body) assert_int_equal(child_status(body), 0)

#endif /* CHILD_H */

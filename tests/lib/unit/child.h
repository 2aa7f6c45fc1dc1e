/* SPDX-License-Identifier: MIT */
/* Tests whose state (environment, seccomp filters) must not outlive them run in a child. */
#ifndef CHILD_H
#define CHILD_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* cmocka's assertions would carry on with the parent's tests in the child: these end it. */
#define CHILD_ASSERT(condition)                                                             \
	do {                                                                                \
		if (!(condition)) {                                                         \
			dprintf(STDOUT_FILENO, "%s:%d: not true: %s\n", __FILE__, __LINE__, \
				#condition);                                                \
			_exit(1);                                                           \
		}                                                                           \
	} while (0)

/* The status of a child that ran BODY: 0 when it came to its end. */
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

/* SPDX-License-Identifier: MIT */
/* Runs tests whose state (environment, seccomp filters) must not outlive them in a child. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/unit/thread_count.h"

/* In a child, cmocka's assertions would continue with the parent's tests; these end it. */
#define CHILD_ASSERT(condition)                                                             \
	do {                                                                                \
		if (!(condition)) {                                                         \
			dprintf(STDOUT_FILENO, "%s:%d: not true: %s\n", __FILE__, __LINE__, \
				#condition);                                                \
			_exit(1);                                                           \
		}                                                                           \
	} while (0)

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER
#endif
#endif

/*
 * The thread sanitizer of clang 14 does not lock its allocator for fork(): if another thread
 * allocates then, the child waits for that lock for ever.  Threads do so when they begin and end,
 * which idle ones of libferry's pool do after 5 s.
 */
static inline void wait_for_quiet_threads(void)
{
#ifdef UNDER_THREAD_SANITIZER
	static bool in_vain; /* threads that stay, like runners of flexsc, are quiet */
	int tenths;

	for (tenths = 0; tenths < 80 && !in_vain; tenths++) {
		if (threads_of_process() <= 2) /* this one, and the sanitizer's */
			return;
		usleep(100000);
	}
	in_vain = true;
#endif
}

/* The status of a child that ran BODY: 0 if BODY returned. */
static inline int child_status(void (*body)(void))
{
	pid_t child;
	int status;

	wait_for_quiet_threads();
	child = fork();
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

/* SPDX-License-Identifier: MIT */
/* Runs tests whose state (environment, seccomp filters) must not outlive them in a child. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
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

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FORK_NEEDS_QUIET_THREADS
#endif
#endif

/*
 * The thread sanitizer of clang 14 does not lock its allocator for fork(): if another thread
 * allocates then, the child waits for that lock for ever.  Threads do so when they begin and end,
 * which idle ones of libferry's pool do after 5 s.
 */
static inline void wait_for_quiet_threads(void)
{
#ifdef FORK_NEEDS_QUIET_THREADS
	const nlink_t alone = 2 + 2; /* two for the directory; this thread, and the sanitizer's */
	static bool in_vain;	     /* threads that stay, like runners of flexsc, are quiet */
	struct stat threads;
	int tenths;

	for (tenths = 0; !in_vain; in_vain = ++tenths == 80) {
		if (!stat("/proc/self/task", &threads) && threads.st_nlink <= alone)
			return;
		usleep(100000);
	}
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

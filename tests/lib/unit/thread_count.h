/* SPDX-License-Identifier: MIT */
#ifndef THREAD_COUNT_H
#define THREAD_COUNT_H

#include <stdlib.h>
#include <sys/stat.h>

/** The number of threads of this process.  Those that a sanitizer started count, too. */
static inline int threads_of_process(void)
{
	struct stat tasks;

	if (stat("/proc/self/task", &tasks))
		abort();
	return (int)tasks.st_nlink - 2; /* "." and ".." */
}

#endif /* THREAD_COUNT_H */

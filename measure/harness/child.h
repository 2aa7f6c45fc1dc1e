/* SPDX-License-Identifier: MIT */
/*
 * Measuring in processes of their own.  Where the kernel places a process's memory and its
 * own data for it changes what calls cost, by more than the trials of one process differ; so
 * trials are spread over several.
 */
#ifndef CHILD_H
#define CHILD_H

#include <sys/types.h>

/**
 * Runs WORK in a child, which ends with this process at the latest.  Once interrupted()
 * here, the child is too.  Returns 0, or EXIT_FOUND when WORK did not return 0, which it has
 * complained about, or died, which this complains about.
 */
int run_in_child(int (*work)(void *context), void *context);

/**
 * Waits until CHILD has ended, and returns how, as in waitpid(2).  Once interrupted() here, even
 * before this was called, CHILD gets signal NUMBER; 0 stands for the one that came.  For the main
 * thread of a process without others.
 */
int wait_for_child(pid_t child, int number);

#endif /* CHILD_H */

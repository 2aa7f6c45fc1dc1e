/* SPDX-License-Identifier: MIT */
/*
 * Measuring in processes of their own.  Where the kernel places a process's memory and its
 * own data for it changes what calls cost, by more than the trials of one process differ; so
 * trials are spread over several.
 */
#ifndef CHILD_H
#define CHILD_H

/**
 * Runs WORK in a child, which ends with this process at the latest.  Once interrupted()
 * here, the child is too.  Returns 0, or EXIT_FOUND when WORK did not return 0, which it has
 * complained about, or died, which this complains about.
 */
int run_in_child(int (*work)(void *context), void *context);

#endif /* CHILD_H */

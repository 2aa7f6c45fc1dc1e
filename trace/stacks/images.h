/* SPDX-License-Identifier: MIT */
/*
 * Which files were mapped as code where, in each process at each moment: a log of what happened,
 * since a process may be gone when its stacks are looked at.
 */
#ifndef TRACE_STACKS_IMAGES_H
#define TRACE_STACKS_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset; /* in the file */
	const char *path;	     /* or "[vdso]"; kept */
};

/** Whether anything is known of PROCESS. */
bool images_know(pid_t process);

/** PROCESS has become another, of which nothing is known yet. */
void images_forget(pid_t process);

/** Reads what PROCESS has mapped now, unless that is known, as its own from NS on. */
void images_read(pid_t process, uint64_t ns);

/** Of a process that is known. */
void images_forked(pid_t parent, pid_t process, uint64_t ns);
void images_executed(pid_t process, uint64_t ns);
void images_mapped(pid_t process, uint64_t ns, struct mapping mapping);

/** Puts what happened in its order, for the next two functions. */
void images_sort(void);

/** What PROCESS had mapped at NS: *COUNT mappings, to free(). */
struct mapping *images_at(pid_t process, uint64_t ns, size_t *count);

/** A number that changes with what PROCESS has mapped. */
size_t images_state(pid_t process, uint64_t ns);

/** Whether the log is full: later processes and mappings are not in it. */
bool images_full(void);

#endif /* TRACE_STACKS_IMAGES_H */

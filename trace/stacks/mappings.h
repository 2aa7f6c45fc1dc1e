/* SPDX-License-Identifier: MIT */
/* The kernel's own records of forks, execve() and mappings (perf_event_open(2)), for images.h. */
#ifndef TRACE_STACKS_MAPPINGS_H
#define TRACE_STACKS_MAPPINGS_H

/** Watches all processes, for those that images.h knows: 0 or -errno. */
int mappings_watch(void);

/** Logs what has happened since the last time. */
void mappings_receive(void);

void mappings_end(void);

#endif /* TRACE_STACKS_MAPPINGS_H */

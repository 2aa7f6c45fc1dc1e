/* SPDX-License-Identifier: MIT */
/* The groups of the conformance suite. */
#ifndef GROUPS_H
#define GROUPS_H

#include "group.h"

extern const struct group arguments_group;
extern const struct group credentials_group;
extern const struct group descriptors_group;
extern const struct group files_group;
extern const struct group forwarding_group;
extern const struct group interruptions_group;
extern const struct group jumps_group;
extern const struct group memory_group;
extern const struct group numbers_group;
extern const struct group processes_group;
extern const struct group runs_group;
extern const struct group seccomp_group;
extern const struct group selfmodify_group;
extern const struct group signals_group;
extern const struct group sockets_group;
extern const struct group threads_group;
extern const struct group tracing_group;
extern const struct group traps_group;
extern const struct group wordcopy_group;

#endif /* GROUPS_H */

/* SPDX-License-Identifier: MIT */
/* The limits of the control groups that the process is in, of either version. */
#ifndef PREFAULT_CONTROL_GROUP_H
#define PREFAULT_CONTROL_GROUP_H

#include <stddef.h>

/** Where the system shows its state; tests have directories of their own. */
struct system_files {
	const char *proc, *cgroup;
};

#define SYSTEM_FILES ((struct system_files){ "/proc", "/sys/fs/cgroup" })

/**
 * The bytes of memory that the control groups still allow, or SIZE_MAX.  Page cache that can be
 * dropped is included if there are fewer than ENOUGH without it.  May change errno.
 */
size_t ferry__group_room(const struct system_files *files, size_t enough);

/** The CPUs that the control groups' quota is worth, at least 1, or UINT_MAX.  May change errno. */
unsigned int ferry__group_cpus(const struct system_files *files);

#endif /* PREFAULT_CONTROL_GROUP_H */

/* SPDX-License-Identifier: MIT */
/* Capabilities of the calling thread. */
#ifndef CAPABILITY_H
#define CAPABILITY_H

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct __user_cap_header_struct version = { _LINUX_CAPABILITY_VERSION_3, 0 };

/* Returns whether it was changed.  The C library would do it in all threads. */
static inline bool set_capability(unsigned int capability, bool effective)
{
	struct __user_cap_data_struct sets[2] = { 0 }, *set = &sets[CAP_TO_INDEX(capability)];
	const __u32 before = (syscall(SYS_capget, &version, sets), set->effective);

	set->effective =
		effective ? before | CAP_TO_MASK(capability) : before & ~CAP_TO_MASK(capability);
	return set->effective != before && !syscall(SYS_capset, &version, sets);
}

/* With this capability, it may be confined by Landlock: its threads are not kept. */
static inline bool have_threads_kept(void)
{
	return set_capability(CAP_SYS_ADMIN, false);
}

#endif /* CAPABILITY_H */

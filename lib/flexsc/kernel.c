// SPDX-License-Identifier: MIT
#include "kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <ferry/rawcall.h>
#include <ferry_flexsc.h>

#include "lib/engine/device.h"
#include "serve.h"

static const char *const names[] = {
	[IN_USER] = "user",
	[IN_SYSCALL] = "syscall",
	[IN_DEVICE] = "device",
};

/* The place that the environment asks for; NULL or "" if it does not ask. */
static const char *asked_for(void)
{
	return secure_getenv("FERRY_FLEXSC_RUNNER");
}

static long call_syscall(struct flexsc_set *set)
{
	long nr = set ? FERRY_NR_FLEXSC_SERVE : FERRY_NR_FLEXSC_REGISTER;

	return ferry_rawcall(nr, (long)set, 0, 0, 0, 0, 0);
}

static long call_device(struct flexsc_set *set)
{
	int fd = ferry__device_descriptor();

	if (fd < 0)
		return fd;
	return ferry_rawcall(SYS_ioctl, fd, (long)FERRY_IOC_FLEXSC_SERVE, (long)set, 0, 0, 0);
}

/* Serves SET; with NULL, returns the version and features of the kernel. */
static long call_kernel(enum flexsc_place place, struct flexsc_set *set)
{
	return place == IN_SYSCALL ? call_syscall(set) : call_device(set);
}

/* 0, or -errno where the kernel has no runner of this version for this thread. */
static int probe(enum flexsc_place place, long *features)
{
	long answer;

	*features = 0;
	if (place == IN_USER)
		return 0;
	answer = call_kernel(place, NULL);
	if (answer < 0)
		return (int)answer;
	if ((answer & BATCH_VERSION_MASK) != FLEXSC_VERSION)
		return -EPROTONOSUPPORT;
	*features = answer >> BATCH_FEATURE_SHIFT;
	return 0;
}

int ferry__flexsc_choose_place(long *features)
{
	const char *name = asked_for();
	int place, error;

	if (!name || !*name) {
		if (!probe(IN_SYSCALL, features))
			return IN_SYSCALL;
		return probe(IN_DEVICE, features) ? IN_USER : IN_DEVICE;
	}
	for (place = IN_USER; place <= IN_DEVICE; place++) {
		if (strcmp(name, names[place]) != 0)
			continue;
		error = probe(place, features);
		return error ? error : place;
	}
	return -EINVAL;
}

const char *ferry_flexsc_place(const char **why)
{
	static const char *const reasons[] = {
		[IN_USER] = "neither this kernel nor /dev/ferry has runners",
		[IN_SYSCALL] = "this kernel has flexsc_serve()",
		[IN_DEVICE] = "the ferry module is there, and this kernel has no flexsc_serve()",
	};
	long features;
	int place = ferry__flexsc_choose_place(&features);
	const char *name = asked_for();

	if (place == -EINVAL)
		*why = "$FERRY_FLEXSC_RUNNER is none of user, syscall and device";
	else if (place < 0)
		*why = "the place that $FERRY_FLEXSC_RUNNER names is not available";
	else
		*why = name && *name ? "$FERRY_FLEXSC_RUNNER says so" : reasons[place];
	return place < 0 ? NULL : names[place];
}

bool ferry__flexsc_serve_at(enum flexsc_place place, struct flexsc_set *set, int limit,
			    const bool *is_spare)
{
	long answer;

	while (place != IN_USER) {
		answer = call_kernel(place, set);
		if (!answer)
			return false;
		/*
		 * The kernel left in the middle of a call that a handler ended, or that only a
		 * real system call gets right.
		 */
		if (!ferry__flexsc_make_begun(set, answer) && answer != -EINTR)
			place = IN_USER;
	}
	return ferry__flexsc_serve(set, limit, is_spare);
}

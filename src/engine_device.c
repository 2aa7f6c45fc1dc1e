// SPDX-License-Identifier: MIT
/*
 * The device engine: the ferry module on a stock kernel, one crossing through
 * /dev/ferry.  The library can tell whether the module is there; it does not
 * run batches on it yet.
 */
#include <fcntl.h>
#include <sys/ioctl.h>

#include <ferry/loop.h>

#include "engine.h"

static int probe(const char **why)
{
	struct ferry_batch_args query = { .flags = FERRY_BATCH_QUERY };
	long fd = ferry_rawcall(SYS_openat, AT_FDCWD, (long)FERRY_DEVICE_PATH, O_RDWR | O_CLOEXEC,
				0, 0, 0);
	long answer;

	if (fd < 0) {
		*why = fd == -ENOENT ? "there is no " FERRY_DEVICE_PATH
				       ": the module is not loaded" :
				       FERRY_DEVICE_PATH " cannot be opened";
		return (int)fd;
	}
	answer = ferry_rawcall(SYS_ioctl, fd, FERRY_IOC_BATCH, (long)&query, 0, 0, 0);
	ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
	if (answer <= 0 || (answer & FERRY_VERSION_MASK) != FERRY_ABI_VERSION) {
		*why = FERRY_DEVICE_PATH " does not speak this library's ABI version";
		return -EPROTONOSUPPORT;
	}
	*why = "the module is loaded, and this version of the library has no use for it";
	return -EOPNOTSUPP;
}

const struct engine device_engine = {
	.name = "device",
	.summary =
		"the ferry module on a stock kernel, through " FERRY_DEVICE_PATH ": one crossing",
	.probe = probe,
};

/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the module: /dev/ferry without the library's engine. */
#ifndef DEVICE_H
#define DEVICE_H

#include <sys/ioctl.h>

#include "tests/lib/conformance/contract/suite.h"

#include <linux/ferry.h>

/** A new descriptor of the device, or the test fails. */
static inline int device_open(void)
{
	int fd = open(FERRY_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	expect(fd >= 0);
	return fd;
}

/** The return value of the module, without -1 and errno. */
static inline long device_run(int fd, struct batch_args *args)
{
	return ferry_rawcall(SYS_ioctl, fd, (long)FERRY_IOC_BATCH, (long)args, 0, 0, 0);
}

/** Fails unless the module leaves the batch to user space from slot I on. */
static inline void expect_device_stops(int fd, struct batch_args *args, long i)
{
	expect_equal(device_run(fd, args), -EOPNOTSUPP);
	expect_equal(args->position, i);
}

/** The same, in STATE. */
static inline void expect_device_refuses(int fd, struct batch_args *args, long i, long state)
{
	expect_device_stops(fd, args, i);
	expect_equal(args->state, state);
}

/** The arguments of the batch calls[0 .. ncall - 1]. */
static inline struct batch_args device_args(long rets[], const struct batch_slot calls[],
					    unsigned long ncall)
{
	return (struct batch_args){
		.rets = (unsigned long)rets,
		.calls = (unsigned long)calls,
		.ncall = ncall,
	};
}

/** Fails unless FD runs a batch of this process. */
static inline void expect_device_runs(int fd)
{
	const struct batch_slot calls[] = { SLOT(SYS_getpid), SLOT(SYS_getppid) };
	long rets[2] = { UNTOUCHED, UNTOUCHED };
	struct batch_args args = device_args(rets, calls, 2);

	expect_equal(device_run(fd, &args), 1);
	expect_equal(rets[0], getpid());
	expect_equal(rets[1], getppid());
}

/** Fails unless the library's engine runs a batch of this process. */
void expect_library_runs(void);

/** Starts counting SIGUSR1. */
void count_signals(void);
extern volatile sig_atomic_t signals_seen;

#endif /* DEVICE_H */

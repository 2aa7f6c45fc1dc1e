// SPDX-License-Identifier: MIT
/*
 * The device engine: the ferry module on a stock kernel runs the batch in one crossing.
 *
 * One descriptor of /dev/ferry serves all threads of the process.  A program may close it
 * along with others that it did not open.  Then the engine opens another, even in the middle
 * of a batch: the state of the batch is in its struct batch_args.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <ferry/batchcall.h>

#include "device.h"
#include "engine.h"

/* Leaves low descriptors to programs that rely on them, and is below the usual limit. */
#define HIGH_DESCRIPTOR 1000

/* The module refuses watched threads: this many batches run in the loop before the next try. */
#define BATCHES_AFTER_REFUSAL 63

static atomic_int descriptor = -1;
static atomic_ulong device_number;

static _Thread_local unsigned int batches_to_loop;

static long close_raw(int fd)
{
	return ferry_rawcall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* The device's number, 0 if FD is no character device. */
static unsigned long number_of(int fd)
{
	struct stat st = { .st_mode = 0 };

	if (ferry_rawcall(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) || !S_ISCHR(st.st_mode))
		return 0;
	return st.st_rdev;
}

static bool is_ours(int fd)
{
	return number_of(fd) == atomic_load_explicit(&device_number, memory_order_relaxed);
}

static int duplicate(int fd, int least)
{
	return (int)ferry_rawcall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least, 0, 0, 0);
}

/* FD, unless it took the last descriptor, which the program may need: it is closed then. */
static int leave_one(int fd)
{
	int another = duplicate(fd, 0);

	close_raw(another < 0 ? fd : another);
	return another < 0 ? another : fd;
}

/* A new descriptor, or -errno. */
static int open_device(void)
{
	int fd = (int)ferry_rawcall(SYS_openat, AT_FDCWD, (long)FERRY_DEVICE_PATH,
				    O_RDWR | O_CLOEXEC, 0, 0, 0);
	int high;

	if (fd < 0)
		return fd;
	high = duplicate(fd, HIGH_DESCRIPTOR);
	if (high < 0)
		return leave_one(fd);
	close_raw(fd);
	return high;
}

/* The process's descriptor, opened if there is none; or -errno. */
static int get_device(void)
{
	int fd = atomic_load_explicit(&descriptor, memory_order_acquire);
	int none = -1;

	if (FERRY_LIKELY(fd >= 0))
		return fd;
	fd = open_device();
	if (fd < 0)
		return fd;
	atomic_store_explicit(&device_number, number_of(fd), memory_order_relaxed);
	if (atomic_compare_exchange_strong(&descriptor, &none, fd))
		return fd;
	close_raw(fd); /* another thread was first */
	return none;
}

/* A forked child opens the device with its own permissions, if it may. */
static void forget_in_child(void)
{
	int fd = atomic_exchange(&descriptor, -1);

	if (fd >= 0 && is_ours(fd))
		close_raw(fd);
}

__attribute__((constructor)) static void prepare_for_fork(void)
{
	pthread_atfork(NULL, NULL, forget_in_child);
}

static const char *cannot_open(int error)
{
	if (error == -ENOENT)
		return "there is no " FERRY_DEVICE_PATH ": the module is not loaded";
	if (error == -EACCES || error == -EPERM)
		return FERRY_DEVICE_PATH " is not open to this user";
	return FERRY_DEVICE_PATH " cannot be opened";
}

/* The program may have closed it, and opened another file since. */
int ferry__device_descriptor(void)
{
	int fd = get_device();

	if (fd < 0 || is_ours(fd))
		return fd;
	atomic_compare_exchange_strong(&descriptor, &fd, -1);
	return get_device();
}

static int probe(const char **why)
{
	int fd = ferry__device_descriptor();
	long answer;

	if (fd < 0) {
		*why = cannot_open(fd);
		return fd;
	}
	answer = ferry_rawcall(SYS_ioctl, fd, (long)FERRY_IOC_BATCH, 0, 0, 0, 0);
	if (answer <= 0 || (answer & BATCH_VERSION_MASK) != BATCH_VERSION) {
		*why = FERRY_DEVICE_PATH " does not speak this library's ABI version";
		return -EPROTONOSUPPORT;
	}
	*why = "the module is loaded; threads under seccomp, audit or a tracer get the loop";
	return 0;
}

/* The answer of the module to a batch; or of a descriptor that is not the module's, -EBADF. */
static long call_device(struct batch_args *args)
{
	long answer;
	int fd;

	for (;;) {
		fd = get_device();
		if (fd < 0)
			return -EBADF;
		answer = ferry_batchcall_raw(SYS_ioctl, fd, (long)FERRY_IOC_BATCH, (long)args);
		if (FERRY_LIKELY(answer >= 0 || answer == -EOPNOTSUPP || answer == -EINTR))
			return answer;
		if (args->state == BATCH_ANSWER || is_ours(fd))
			return answer;
		atomic_compare_exchange_strong(&descriptor, &fd, -1);
	}
}

static long run(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	struct batch_args args;
	long answer;

	/* The kernel passes on what an ioctl returns as an int. */
	if (FERRY_UNLIKELY(ncall > INT_MAX))
		return ferry_loop(rets, calls, ncall);
	if (FERRY_UNLIKELY(batches_to_loop)) {
		batches_to_loop--;
		return ferry_loop(rets, calls, ncall);
	}
	ferry_batch_begin(&args, rets, calls, ncall);
	do {
		answer = call_device(&args);
		if (FERRY_LIKELY(ferry_batch_is_over(&args, answer)))
			return answer;
		if (args.state == BATCH_BEGIN)
			batches_to_loop = BATCHES_AFTER_REFUSAL;
	} while (ferry_batch_left(&args, &answer));
	return answer;
}

const struct engine ferry__device_engine = {
	.name = "device",
	.summary =
		"the ferry module on a stock kernel, through " FERRY_DEVICE_PATH ": one crossing",
	.probe = probe,
	.run = run,
};

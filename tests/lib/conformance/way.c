// SPDX-License-Identifier: MIT
/* The ways to run a batch; see way.h. */
#include <linux/batch.h>

#include "contract/suite.h"

static long on_header(long rets[], const struct batch_slot calls[], unsigned long ncall, long flags,
		      long size)
{
	int before = errno;
	long last = batch(rets, (syscall_t *)calls, ncall, flags, size);

	if (last != -1) {
		expect_equal(errno, before);
		return last;
	}
	last = -errno;
	errno = before;
	return last;
}

static int probe_header(const char **why)
{
	*why = "is always there";
	return 0;
}

static const struct way ways[] = {
	{ .name = "loop", .engine = FERRY_LOOP },
	{ .name = "device", .engine = FERRY_DEVICE },
	{ .name = "syscall", .engine = FERRY_SYSCALL },
	{ .name = "auto", .engine = FERRY_AUTO },
	{ .name = "header", .run = on_header, .probe = probe_header },
};

const struct way *way;

const char *way_name(size_t i)
{
	return i < ARRAY_SIZE(ways) ? ways[i].name : NULL;
}

const struct way *way_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	return NULL;
}

int way_probe(const char **why)
{
	return way->probe ? way->probe(why) : ferry_engine_probe(way->engine, why);
}

long way_run(long rets[], const struct batch_slot calls[], unsigned long ncall, long flags,
	     long size)
{
	if (way->run)
		return way->run(rets, calls, ncall, flags, size);
	return ferry_batch_on(way->engine, rets, calls, ncall, flags, size);
}

long run_batch(long rets[], const struct batch_slot calls[], unsigned long ncall)
{
	return way_run(rets, calls, ncall, 0, sizeof(struct batch_slot));
}

bool word_copy_may_fault(void)
{
	/* The kernel's engines return -EFAULT; engines that may loop in user space do not. */
	return strcmp(way->name, "syscall") != 0 && strcmp(way->name, "device") != 0;
}

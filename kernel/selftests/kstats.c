// SPDX-License-Identifier: GPL-2.0
/* kstats(): the counters agree with /proc, and the structure grows by its size. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>

#include <linux/kstats.h>

#include "subcall_test.h"

static long kstats(void *stats, size_t size)
{
	return syscall(__NR_kstats, stats, size) < 0 ? -errno : 0;
}

FIXTURE(kstats)
{
	struct kstats stats;
};

FIXTURE_SETUP(kstats)
{
	if (kstats(&self->stats, sizeof(self->stats)) == -ENOSYS)
		SKIP(return, "no kstats(): is CONFIG_KSTATS set?");
	ASSERT_EQ(0, kstats(&self->stats, sizeof(self->stats)));
}

FIXTURE_TEARDOWN(kstats)
{
}

static unsigned long long context_switches_of_proc(void)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long long count = 0;
	char line[4096];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "ctxt %llu", &count) == 1)
			break;
	if (file)
		fclose(file);
	return count;
}

static unsigned long long uptime_in_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

TEST_F(kstats, agrees_with_proc)
{
	unsigned long long switches = context_switches_of_proc(), uptime = uptime_in_ns();
	struct kstats *stats = &self->stats;
	struct sysinfo info;

	ASSERT_EQ(0, kstats(stats, sizeof(*stats)));
	ASSERT_EQ(0, sysinfo(&info));
	EXPECT_LE(switches, stats->context_switches);
	EXPECT_GE(context_switches_of_proc(), stats->context_switches);
	EXPECT_LE(uptime, stats->uptime);
	EXPECT_GE(uptime_in_ns(), stats->uptime);
	EXPECT_EQ(info.totalram * info.mem_unit, stats->memory_total);
	EXPECT_GT(stats->memory_total, stats->memory_free);
	EXPECT_LT(0, stats->memory_free);
	EXPECT_GT(stats->memory_total, stats->memory_buffers);
	EXPECT_LE(1, stats->runnable);
	/* sysinfo() counts threads, and every process has at least one. */
	EXPECT_LE(2, stats->processes);
	EXPECT_GE(info.procs + 1, stats->processes);
}

#define CHILDREN 20

TEST_F(kstats, sees_processes_come)
{
	unsigned long long before = self->stats.processes;
	pid_t children[CHILDREN];
	int i;

	for (i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (!children[i]) {
			pause();
			_exit(0);
		}
	}
	EXPECT_EQ(0, kstats(&self->stats, sizeof(self->stats)));
	/* Other processes may end meanwhile, but hardly this many. */
	EXPECT_LE(before + CHILDREN / 2, self->stats.processes);
	for (i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

TEST_F(kstats, sees_memory_go)
{
	const size_t size = 32 << 20;
	unsigned long long before = self->stats.memory_free;
	char *memory = malloc(size);

	ASSERT_NE(NULL, memory);
	memset(memory, 1, size);
	EXPECT_EQ(0, kstats(&self->stats, sizeof(self->stats)));
	EXPECT_LT(size / 2, before - self->stats.memory_free);
	free(memory);
}

TEST_F(kstats, grows_by_size)
{
	unsigned char bytes[4096];
	size_t i;

	EXPECT_EQ(-EINVAL, kstats(bytes, 0));
	EXPECT_EQ(-EINVAL, kstats(bytes, KSTATS_SIZE_VER0 - 1));
	EXPECT_EQ(-E2BIG, kstats(bytes, sizeof(bytes) + 1));
	EXPECT_EQ(-E2BIG, kstats(bytes, -1));

	/* A caller with a larger structure gets zeros, and no byte after the structure changes. */
	memset(bytes, 0xa7, sizeof(bytes));
	EXPECT_EQ(0, kstats(bytes, sizeof(bytes) - 1));
	for (i = sizeof(struct kstats); i < sizeof(bytes) - 1; i++)
		ASSERT_EQ(0, bytes[i]);
	EXPECT_EQ(0xa7, bytes[i]);

	memset(bytes, 0xa7, sizeof(bytes));
	EXPECT_EQ(0, kstats(bytes, KSTATS_SIZE_VER0));
	EXPECT_EQ(0xa7, bytes[KSTATS_SIZE_VER0]);
}

TEST_F(kstats, gives_efault_out_of_reach)
{
	EXPECT_EQ(-EFAULT, kstats(NULL, KSTATS_SIZE_VER0));
	EXPECT_EQ(-EFAULT, kstats((void *)-4096, KSTATS_SIZE_VER0));
}

TEST_HARNESS_MAIN

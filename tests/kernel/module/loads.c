// SPDX-License-Identifier: MIT
/*
 * Loads and unloads the module repeatedly while users open and close the device.  Unloading
 * must be refused while the device is open, and must leave nothing behind if it succeeds.
 *
 *     loads MODULE.ko [TIMES]
 */
#include <ferry.h>
#include <ferry/rawcall.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <errno.h>
#include <unistd.h>

#define USERS 3
#define EXIT_SKIPPED 77

/* Shared with the users. */
struct counts {
	unsigned long batches;
	unsigned long bad;
};

static void fail(const char *what)
{
	fprintf(stderr, "loads: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- users ---- */

static void run_batches(int fd, struct counts *counts)
{
	const struct batch_slot calls[] = { { .nr = SYS_getpid }, { .nr = SYS_getuid } };
	long rets[2] = { -1, -1 };
	struct batch_args args = {
		.rets = (unsigned long)rets,
		.calls = (unsigned long)calls,
		.ncall = 2,
	};
	int i;

	for (i = 0; i < 20; i++) {
		args.position = args.state = 0;
		if (ioctl(fd, FERRY_IOC_BATCH, &args) != 1 || rets[0] != getpid())
			__atomic_add_fetch(&counts->bad, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&counts->batches, 1, __ATOMIC_RELAXED);
	}
}

/* Opens the device whenever it exists, runs some batches, and closes it. */
static void use(struct counts *counts)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = open(FERRY_DEVICE_PATH, O_RDWR | O_CLOEXEC);

		if (fd < 0) {
			sched_yield();
			continue;
		}
		run_batches(fd, counts);
		close(fd);
		usleep(500);
	}
}

static pid_t start_user(struct counts *counts)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid == 0)
		use(counts);
	return pid;
}

/* ---- loading ---- */

static void load(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		fail(path);
	if (syscall(SYS_finit_module, file, "", 0))
		fail("loading the module");
	close(file);
}

/* Retries until no user is left.  Returns the number of refusals. */
static unsigned long unload(void)
{
	unsigned long refusals = 0;

	while (syscall(SYS_delete_module, "ferry", O_NONBLOCK)) {
		if (errno != EWOULDBLOCK)
			fail("unloading the module");
		refusals++;
		sched_yield();
	}
	return refusals;
}

static void expect_gone(void)
{
	if (!access(FERRY_DEVICE_PATH, F_OK) || !access("/sys/module/ferry", F_OK)) {
		fprintf(stderr, "loads: the unloaded module has left something\n");
		exit(1);
	}
}

/* While this process has the device open, unloading must fail and do no harm. */
static void expect_refusal(struct counts *counts)
{
	int fd = open(FERRY_DEVICE_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fail(FERRY_DEVICE_PATH);
	if (!syscall(SYS_delete_module, "ferry", O_NONBLOCK) || errno != EWOULDBLOCK) {
		fprintf(stderr, "loads: the module was unloaded while in use\n");
		exit(1);
	}
	run_batches(fd, counts);
	close(fd);
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[2]) : 1000;
	unsigned long refusals = 0;
	struct counts *counts;
	pid_t users[USERS];
	int i;

	if (argc < 2 || argc > 3 || times < 1) {
		fputs("usage: loads MODULE.ko [TIMES]\n", stderr);
		return 2;
	}
	if (geteuid() || access(argv[1], R_OK)) {
		printf("skipped: it takes root, and %s\n", argv[1]);
		return EXIT_SKIPPED;
	}
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (counts == MAP_FAILED)
		fail("mmap");
	for (i = 0; i < USERS; i++)
		users[i] = start_user(counts);
	for (i = 0; i < times; i++) {
		load(argv[1]);
		if (i % 10 == 0)
			expect_refusal(counts);
		refusals += unload();
		expect_gone();
	}
	for (i = 0; i < USERS; i++) {
		kill(users[i], SIGKILL);
		waitpid(users[i], NULL, 0);
	}
	printf("%d loads, %lu refusals to unload, %lu batches, %lu of them wrong\n", times,
	       refusals, counts->batches, counts->bad);
	return counts->bad || !counts->batches;
}

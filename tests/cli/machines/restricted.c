// SPDX-License-Identifier: MIT
/*
 * Runs a command as on an unusual machine: restricted WAY COMMAND ARGUMENT...
 * Exits with 77 where that machine cannot be made here.
 */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SKIPPED 77
#define LAST_KNOWN 462 /* system calls above are unknown to old filters */

static int refuse(scmp_filter_ctx filter, unsigned int action, int nr)
{
	return seccomp_rule_add(filter, action, nr, 0);
}

/* As container managers do: what the filter does not know fails, with ERROR. */
static int filter_with(int error)
{
	static const int refused[] = {
		SYS_io_uring_setup,  SYS_io_uring_enter, SYS_io_uring_register,
		SYS_perf_event_open, SYS_ptrace,	 SYS_userfaultfd
	};
	unsigned int action = SCMP_ACT_ERRNO((unsigned int)error);
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int status = filter ? 0 : -ENOMEM, nr;
	size_t i;

	for (i = 0; !status && i < sizeof(refused) / sizeof(refused[0]); i++)
		status = refuse(filter, action, refused[i]);
	for (nr = LAST_KNOWN + 1; !status && nr < 512; nr++)
		status = refuse(filter, action, nr);
	if (!status)
		status = seccomp_load(filter);
	seccomp_release(filter);
	return status;
}

/* Nothing is where /proc was, or below PLACE. */
static int hide(const char *place)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", place, "tmpfs", 0, NULL))
		return -errno;
	return 0;
}

static int one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

static int restrict_to(const char *way)
{
	if (!strcmp(way, "eperm"))
		return filter_with(EPERM);
	if (!strcmp(way, "enosys"))
		return filter_with(ENOSYS);
	if (!strcmp(way, "proc"))
		return hide("/proc");
	if (!strcmp(way, "sys"))
		return hide("/sys");
	if (!strcmp(way, "cpu"))
		return one_cpu();
	return -EINVAL;
}

int main(int argc, char *argv[])
{
	int status = argc > 2 ? restrict_to(argv[1]) : -EINVAL;

	if (status) {
		fprintf(stderr, "restricted: %s: %s\n", argc > 1 ? argv[1] : "", strerror(-status));
		return status == -EPERM ? SKIPPED : 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}

// SPDX-License-Identifier: MIT
/*
 * Runs a command as on an unusual machine: restricted WAY COMMAND ARGUMENT...
 * Exits with 77 where that machine cannot be made here.
 */
#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
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
	static const int refused[] = { SYS_io_uring_setup,
				       SYS_io_uring_enter,
				       SYS_io_uring_register,
				       SYS_perf_event_open,
				       SYS_ptrace,
				       SYS_userfaultfd,
				       SYS_bpf };
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

/* For this process and its children alone. */
static int mount_at(const char *place, const char *type, const char *settings)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", place, type, 0, settings))
		return -errno;
	return 0;
}

/* /proc has this process and its children only.  Root sees all, so it must not be all of root. */
static int hide_processes(void)
{
	int status = mount_at("/proc", "proc", "hidepid=2,gid=65534"), capability = 0;

	while (!status && !prctl(PR_CAPBSET_DROP, capability, 0, 0, 0))
		capability++; /* execve() takes them from the process, too */
	if (!status && !capability)
		return -errno;
	return status;
}

static int one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

#ifdef __x86_64__
#define STACK_POINTER(registers) ((registers).rsp)
#else
#define STACK_POINTER(registers) ((registers).sp)
#endif

static long word_at(pid_t pid, unsigned long address)
{
	return ptrace(PTRACE_PEEKDATA, pid, address, NULL);
}

/* Has PID, which stopped as its program started, find no vDSO in its auxiliary vector. */
static int hide_vdso_from(pid_t pid)
{
	struct user_regs_struct registers;
	struct iovec room = { &registers, sizeof(registers) };
	unsigned long at;

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &room))
		return -errno;
	at = STACK_POINTER(registers);
	at += (2 + (unsigned long)word_at(pid, at)) * sizeof(long); /* argc, argv and its end */
	while (word_at(pid, at))
		at += sizeof(long);
	for (at += sizeof(long); word_at(pid, at) != AT_SYSINFO_EHDR; at += 2 * sizeof(long))
		if (word_at(pid, at) == AT_NULL)
			return -ENOENT;
	return ptrace(PTRACE_POKEDATA, pid, at, AT_IGNORE) ? -errno : 0;
}

/* Returns in the child that is to run the command; this process ends as the command does. */
static int start_without_vdso(void)
{
	const pid_t pid = fork();
	int status, error;

	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? -errno : 0;
	}
	waitpid(pid, &status, 0);
	if (WIFSTOPPED(status)) {
		error = hide_vdso_from(pid);
		if (error) {
			fprintf(stderr, "restricted: vdso: %s\n", strerror(-error));
			exit(SKIPPED);
		}
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
		waitpid(pid, &status, 0);
	}
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static int restrict_to(const char *way)
{
	if (!strcmp(way, "eperm"))
		return filter_with(EPERM);
	if (!strcmp(way, "enosys"))
		return filter_with(ENOSYS);
	if (!strcmp(way, "proc"))
		return mount_at("/proc", "tmpfs", NULL);
	if (!strcmp(way, "hidepid"))
		return hide_processes();
	if (!strcmp(way, "sys"))
		return mount_at("/sys", "tmpfs", NULL);
	if (!strcmp(way, "cpu"))
		return one_cpu();
	if (!strcmp(way, "vdso"))
		return start_without_vdso();
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
